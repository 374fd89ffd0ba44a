import protobuf from 'protobufjs/minimal.js';
import type { ByteSpan } from './onnxModel.ts';
import { joinSegments, type Segment, segmentsSize } from './segment.ts';

/** What takes the place of the bytes from `start` to `end` of the model; nothing is replaced where they are equal. */
interface Replacement {
  start: number;
  end: number;
  segments: Segment[];
}

/**
 * Changes inside one protobuf message of a file. Messages nest; where the length of one changes, its length prefix and
 * those around it are written again. Every other byte is copied.
 */
export class MessagePatch {
  readonly span: ByteSpan;
  private readonly tag: number;
  private readonly children = new Map<number, MessagePatch>();
  private readonly insertions: Replacement[] = [];
  private readonly replacements = new Map<number, Replacement>();

  /** `tag`: of the field that holds the message. */
  constructor(span: ByteSpan, tag: number) {
    this.span = span;
    this.tag = tag;
  }

  /** The patch of a message in this one; the same one for the same span. */
  child(span: ByteSpan, tag: number): MessagePatch {
    const known = this.children.get(span.at);
    if (known) return known;
    const child = new MessagePatch(span, tag);
    this.children.set(span.at, child);
    return child;
  }

  /** Puts segments in front of what begins at `start`, behind what was inserted there before. */
  insert(start: number, ...segments: Segment[]): void {
    this.insertions.push({ start, end: start, segments });
  }

  /** Puts segments in the place of a field: the bytes from `start` to `end`. Said twice of a field, the last one counts. */
  replace(start: number, end: number, ...segments: Segment[]): void {
    this.replacements.set(start, { start, end, segments });
  }

  /** The field that holds the message, as it will be. */
  field(): Segment[] {
    const { at, offset, length } = this.span;
    const payload = this.payload();
    const size = segmentsSize(payload);
    const head: Segment =
      size === length
        ? { copy: { offset: at, length: offset - at } }
        : { bytes: protobuf.Writer.create().uint32(this.tag).uint32(size).finish() };
    return [head, ...payload];
  }

  /** The message, as it will be. */
  payload(): Segment[] {
    const { offset, length } = this.span;
    const changes: Replacement[] = [
      ...this.insertions,
      ...this.replacements.values(),
      ...[...this.children.values()].map((child) => ({
        start: child.span.at,
        end: child.span.offset + child.span.length,
        segments: child.field(),
      })),
    ];
    // What is inserted is before what begins at the same place; insertions keep their order.
    changes.sort((a, b) => a.start - b.start || Number(a.end > a.start) - Number(b.end > b.start));
    const segments: Segment[] = [];
    let at = offset;
    for (const { start, end, segments: added } of changes) {
      if (start < at) throw new Error(`two changes of byte ${start}`);
      segments.push({ copy: { offset: at, length: start - at } });
      for (const segment of added) segments.push(segment);
      at = end;
    }
    segments.push({ copy: { offset: at, length: offset + length - at } });
    return joinSegments(segments);
  }
}
