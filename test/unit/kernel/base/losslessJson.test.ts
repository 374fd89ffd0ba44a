import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonNode, memberOf, plainValue, readLosslessJson } from '../../../../src/kernel/base/json.ts';

const one = (text: string): JsonNode => {
  const { documents, problems } = readLosslessJson(text);
  expect(problems).toEqual([]);
  expect(documents).toHaveLength(1);
  return documents[0]!;
};

/** What JSON.parse gives, but integers that a double cannot hold as their text. */
const parsed = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(String(value)) ? String(value) : value,
  );

function accepts(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('proper JSON', () => {
  test('gives what JSON.parse gives, compact or indented', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 2, 4, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(plainValue(one(text))).toEqual(parsed(text));
      }),
    );
  });

  test('as people and programs write it: any blanks, escapes and forms of numbers', () => {
    const blank = fc.constantFrom('', ' ', '\n', '\t ', '\r\n');
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 2 }).map((text) => JSON.stringify(text).slice(1, -1)),
      fc.constantFrom('\\u0041', '\\/', '\\ud83d\\ude00', '\\uD800', '\\b\\f', '\u2028', '//', '/*'),
    );
    const string = fc.array(piece, { maxLength: 4 }).map((pieces) => `"${pieces.join('')}"`);
    const scalar = fc.constantFrom('0', '-0', '-12', '1.5', '1E+5', '2e-3', '0.0', '1e400', 'true', 'false', 'null');
    const { value } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        string,
        scalar,
        fc
          .tuple(blank, fc.array(fc.tuple(tie('value'), blank), { maxLength: 3 }))
          .map(([start, items]) => `[${start}${items.map((item) => item.join('')).join(`,${start}`)}]`),
        fc
          .tuple(blank, fc.array(fc.tuple(string, blank, tie('value')), { maxLength: 3 }))
          .map(
            ([start, members]) =>
              `{${start}${members.map(([key, gap, held]) => `${key}${gap}:${gap}${held}`).join(`${start},`)}}`,
          ),
      ),
    }));
    fc.assert(
      fc.property(value, (text) => {
        expect(plainValue(one(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 3000 },
    );
  });

  test('each value knows where it stands', () => {
    const visit = (text: string, node: JsonNode): void => {
      expect(parsed(text.slice(node.start, node.end))).toEqual(plainValue(node));
      if (node.kind === 'array') for (const item of node.items) visit(text, item);
      if (node.kind === 'object')
        for (const member of node.members) {
          expect(JSON.parse(text.slice(member.keyStart, member.keyEnd))).toBe(member.key);
          visit(text, member.value);
        }
    };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = ` ${JSON.stringify(value, null, 1)}\n`;
        visit(text, one(text));
      }),
    );
  });

  test('ids of 64 bits stay whole, as text', () => {
    const node = one('{"tactic": 6596631851832846809, "implementation": -2147483638, "big": 12345678901234567890}');
    expect(memberOf(node, 'tactic')).toMatchObject({ kind: 'number', text: '6596631851832846809', start: 11, end: 30 });
    expect(plainValue(node)).toEqual({
      tactic: '6596631851832846809',
      implementation: -2147483638,
      big: '12345678901234567890',
    });
  });

  test('several documents and a byte order mark', () => {
    const { documents, problems } = readLosslessJson('\uFEFF{"a":1}\n{"a":2}\n[3]');
    expect(documents.map(plainValue)).toEqual([{ a: 1 }, { a: 2 }, [3]]);
    expect(problems).toEqual([]);
  });

  test('a key that a program gives away is a key like others', () => {
    const value = plainValue(one('{"__proto__": {"polluted": true}}')) as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('broken JSON', () => {
  test.each([
    ['{"a": 1,, "b": 2}', { a: 1, b: 2 }, [{ severity: 'info', code: 'json-comma', line: 1, column: 9 }]],
    [
      '{ // the "old" one: {\n"a": /* , ] */ 1 }',
      { a: 1 },
      [
        { severity: 'warning', code: 'json-comment', line: 1, column: 3, endColumn: 22 },
        { code: 'json-comment', line: 2, column: 6, endColumn: 15 },
      ],
    ],
    ['[1 /* open', [1], [{ code: 'json-comment' }, { code: 'json-end' }]],
    ['[1 / 2]', [1, 2], [{ code: 'json-syntax' }, { code: 'json-syntax' }, { code: 'json-syntax' }]],
    ['[, 1]', [1], [{ code: 'json-comma', line: 1, column: 2 }]],
    ['{"a": 1 "b": 2}', { a: 1, b: 2 }, [{ code: 'json-syntax', line: 1, column: 9 }]],
    ['[1, 2,]', [1, 2], [{ code: 'json-syntax', line: 1, column: 6 }]],
    ['{\n "a": 1,\n "b": [1, 2', { a: 1, b: [1, 2] }, [{ code: 'json-end' }, { code: 'json-end' }]],
    [
      '{"a": nan, "b": -inf, "c": inf}',
      { a: NaN, b: -Infinity, c: Infinity },
      [{ code: 'json-number' }, { code: 'json-number' }, { code: 'json-number' }],
    ],
    ['{"a": "x\ty"}', { a: 'x\ty' }, [{ code: 'json-control', line: 1, column: 8 }]],
    ['{"a": "x\\qy"}', { a: 'x\\qy' }, [{ code: 'json-string', line: 1, column: 9, endColumn: 11 }]],
    ['{"a": 1]', { a: 1 }, [{ code: 'json-syntax' }]],
    [
      '{"a": True, "b": None}',
      { a: true, b: null },
      [
        { severity: 'info', code: 'json-word', column: 7, endColumn: 11 },
        { code: 'json-word', column: 18 },
      ],
    ],
    ['{a: 1, "b": 2}', { b: 2 }, [{ code: 'json-syntax', line: 1, column: 2 }]],
    ['{"a": }', {}, [{ code: 'json-syntax', line: 1, column: 7 }]],
  ])('%j', (text, value, expected) => {
    const { documents, problems } = readLosslessJson(text);
    expect(plainValue(documents[0]!)).toEqual(value);
    expect(problems).toMatchObject(expected);
  });

  test('text around a document is passed over with its place', () => {
    const { documents, problems } = readLosslessJson('# source: somewhere\nnote\n{"a": 1}\ntrailing text\n');
    expect(documents.map(plainValue)).toEqual([{ a: 1 }]);
    expect(problems).toMatchObject([
      { code: 'json-trailing', line: 1, column: 1 },
      { code: 'json-trailing', line: 4, column: 1 },
    ]);
  });

  test('names that are not escaped end where a value can end', () => {
    const text =
      '{\n  "Name": ""a" b\\c",\n  "LayerType": "NoOp",\n  "Inputs": [{"Name": "say "hi", she said"}],\n  "Metadata": "[ONNX Layer: a]\\u001e[ONNX Layer: b]"\n}';
    const { documents, problems } = readLosslessJson(text, { rawMembers: new Set(['Name']) });
    expect(problems).toEqual([]);
    expect(plainValue(documents[0]!)).toEqual({
      Name: '"a" b\\c',
      LayerType: 'NoOp',
      Inputs: [{ Name: 'say "hi", she said' }],
      Metadata: '[ONNX Layer: a]\x1e[ONNX Layer: b]',
    });
  });

  test('deep nesting ends with a problem, not with a crash', () => {
    const { problems } = readLosslessJson('['.repeat(200_000));
    expect(problems.map(({ code }) => code)).toContain('json-depth');
  });

  test('no text makes it throw, and every text comes to an end', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '\\',
      'a',
      '1',
      '-',
      'e',
      '.',
      ' ',
      '\n',
      'null',
      'nan',
      '"a":',
      '\u0001',
      '\uD800',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.boolean(), (pieces, raw) => {
        const { documents, problems } = readLosslessJson(pieces.join(''), raw ? { rawMembers: new Set(['a']) } : {});
        for (const document of documents) plainValue(document);
        for (const { line, column, message } of problems) {
          expect(line).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
          expect(message).not.toBe('');
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('what JSON.parse refuses is never taken without a word, and what it takes is', () => {
    const words = String.raw`{ } [ ] "a" "b" : , 1 -0 1e5 01 - null nul "\u0041" "\q" " "é" /*c*/ // 1. .5 +1 NaN None`;
    const piece = fc.constantFrom(' ', '\n', '\u00a0', '12345678901234567890', ...words.split(' '));
    let taken = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const text = pieces.join('');
        const { documents, problems } = readLosslessJson(text);
        const isJson = accepts(text);
        if (isJson) taken++;
        if (isJson) expect(problems, text).toEqual([]);
        // Several documents in a row, or none, are no JSON, and no problem either.
        else if (problems.length === 0) expect(documents.length, text).not.toBe(1);
      }),
      { numRuns: 10_000 },
    );
    expect(taken).toBeGreaterThan(200);
  });

  test('a cut-off document keeps what was whole', () => {
    const text = JSON.stringify(
      { list: Array.from({ length: 30 }, (_, index) => ({ name: `layer ${index}`, time: index })) },
      null,
      2,
    );
    for (let length = 12; length < text.length; length += 7) {
      const { documents } = readLosslessJson(text.slice(0, length));
      const { list } = plainValue(documents[0]!) as { list?: { name: string; time: number }[] };
      const whole = (text.slice(0, length).match(/\}/g) ?? []).length;
      expect(list?.slice(0, whole) ?? []).toEqual(
        Array.from({ length: Math.min(whole, 30) }, (_, index) => ({ name: `layer ${index}`, time: index })),
      );
    }
  });

  test('work grows with the length, not with its square', () => {
    const row = '{"name" : "a"b", "timeMs" : 1 }';
    const rows = (count: number): number => {
      const { documents } = readLosslessJson(`[${Array.from({ length: count }, () => row).join(', ')}]`, {
        rawMembers: new Set(['name']),
      });
      const [document] = documents;
      return document?.kind === 'array' ? document.items.length : 0;
    };
    expect(rows(20_000)).toBe(20_000);
  });
});
