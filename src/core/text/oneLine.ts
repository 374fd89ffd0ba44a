/** Names are other people's text: control characters, line ends and marks of writing direction become one space. */
export const oneLine = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ');

/** A name in one line of at most `most` characters, both ends kept: a ForeignNode is known by them. */
export function shorten(name: string, most = 60): string {
  const whole = oneLine(name);
  if (whole.length <= most) return whole;
  const end = Math.floor((most - 1) / 2);
  return `${whole.slice(0, most - 1 - end)}…${end === 0 ? '' : whole.slice(-end)}`;
}
