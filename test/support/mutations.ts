import fc from 'fast-check';

/** What goes wrong with bytes: changed, lost, doubled, moved, replaced by extreme values. */
export const mutation = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), at: fc.nat(), bytes: fc.uint8Array({ minLength: 1, maxLength: 12 }) }),
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), bit: fc.nat(7) }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(), count: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(), count: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ kind: fc.constant('ones' as const), at: fc.nat(), count: fc.integer({ min: 1, max: 12 }) }),
);

export type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

export function mutate(bytes: Uint8Array, change: Mutation): Uint8Array {
  const at = change.at % (bytes.length + 1);
  const splice = (count: number, ...added: number[]): Uint8Array => {
    const list = [...bytes];
    list.splice(at, count, ...added);
    return Uint8Array.from(list);
  };
  switch (change.kind) {
    case 'set':
      return splice(change.bytes.length, ...change.bytes);
    case 'flip':
      return at < bytes.length ? splice(1, bytes[at]! ^ (1 << change.bit)) : bytes;
    case 'remove':
      return splice(change.count);
    case 'repeat':
      return splice(0, ...bytes.subarray(at, at + change.count));
    case 'ones':
      return splice(change.count, ...Array<number>(change.count).fill(0xff));
  }
}
