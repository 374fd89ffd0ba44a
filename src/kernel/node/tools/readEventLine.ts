/**
 * An event that one of our Python scripts reports, one JSON object on a line; undefined for any other line, such as what
 * a start-up file of Python's prints.
 */
export function readEventLine<Event>(line: string): Event | undefined {
  if (!line.startsWith('{"event":')) return undefined;
  try {
    return JSON.parse(line) as Event;
  } catch {
    return undefined;
  }
}
