// Finds what another version of TensorRT does not have in programs, scripts and configurations.
import { addTo } from '../../../kernel/base/addTo.ts';
import { modelOfCommand } from '../../../kernel/build/trtexecFlags.ts';
import { cppTypes, usesTensorrt } from './internal/cppTypes.ts';
import { type Gone, goneTables, renamed } from '../../../kernel/build/goneName.ts';
import { trtexecFlags } from '../../../kernel/build/goneNames.ts';
import { guardedCpp, isGuardedPython } from './internal/guards.ts';
import { type MaskedSource, maskSource, type TextPart } from './internal/maskSource.ts';
import { pythonTypes, type TensorrtImports, tensorrtImports } from './internal/pythonTypes.ts';
import {
  type FoundFlag,
  flagInstead,
  flagsInShell,
  flagsInStrings,
  polygraphyFlags,
  polygraphySets,
} from './internal/toolFlags.ts';
import { asksForType, stepOfProgram, stepOfShell, stepOfStrings, type TypedStep } from './internal/typedStep.ts';

export type { TypedStep };

export type SourceLanguage = 'python' | 'cpp' | 'shell' | 'yaml';

export interface LintFinding extends TextPart {
  /**
   * - `gone`: the version has no such name
   * - `perhaps-gone`: so it is if the object is what its name says, or if its branch runs on that version
   * - `too-new`: the version has it not yet
   * - `deprecated`: it has it, with notice
   */
  code: 'gone' | 'perhaps-gone' | 'too-new' | 'deprecated';
  /** As TensorRT spells it: `BuilderFlag.FP16`, `BuilderFlag::kFP16`, `--fp16`. */
  name: string;
  message: string;
  /** '': nothing is known. */
  advice: string;
  /** Text in place of a part that does the same; null: none is known to. */
  fix: (TextPart & { text: string }) | null;
  /** Of what asks for types: the one command that makes the typed model and the command that builds it; null: none. */
  step?: () => TypedStep | null;
}

/** The newest version of which the tables know what is gone. */
export const newestTarget = '11.4';

/** By the end of a path; null: no language that is read. */
export function languageOf(path: string): SourceLanguage | null {
  if (/\.pyi?$|\.ipy$/i.test(path)) return 'python';
  if (/\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hxx|inl)$/i.test(path)) return 'cpp';
  if (/\.ya?ml$/i.test(path)) return 'yaml';
  if (/\.(?:sh|bash|zsh|ksh|bat|cmd|ps1|mk)$|(?:^|[\\/])(?:Makefile|Dockerfile(?:\.\w+)?|justfile)$/i.test(path))
    return 'shell';
  return null;
}

/** Members by their name alone, for objects of unknown type: only long names that no other library is likely to have. */
function distinctive(table: ReadonlyMap<string, Gone>, words: (member: string) => number): ReadonlyMap<string, string> {
  const owners = new Map<string, string[]>();
  for (const name of table.keys()) {
    const [owner, member] = name.split('.');
    if (member !== undefined && words(member) >= 3) addTo(owners, member, owner!);
  }
  return new Map([...owners].map(([member, [first]]) => [member, first!]));
}

const { python, cpp } = goneTables;
const distinctPython = distinctive(python, (member) => member.split('_').length);
const distinctCpp = distinctive(cpp, (member) => member.split(/(?=[A-Z])/).length);

/**
 * What a text uses that a version of TensorRT does not have, in the order of the text. Comments do not count, nor do
 * objects that merely have a method of the same name. Never throws.
 * @param target a version such as `11.2`
 */
export function lintSource(text: string, language: SourceLanguage, target = newestTarget): LintFinding[] {
  if (!/tensorrt|nvinfer|nvonnxparser|trtexec|polygraphy/i.test(text)) return [];
  const version = versionNumber(target);
  const findings: LintFinding[] = [];
  if (language === 'shell' || language === 'yaml')
    findings.push(...flagFindings(flagsInShell(text, language === 'yaml'), version, target, stepOfCommand));
  else {
    const masked = maskSource(text, language);
    findings.push(...flagFindings(flagsInStrings(text, masked), version, target, stepOfStrings));
    const own = language === 'python' ? lintPython(text, masked, version) : lintCpp(text, masked, version);
    const first = own.find(({ name, code }) => code !== 'deprecated' && typeName.test(name));
    if (first !== undefined)
      first.step = () =>
        stepOfProgram(
          own.map(({ name }) => name),
          masked.strings.map(({ start, end }) => text.slice(start, end)),
        );
    findings.push(...own);
  }
  return findings.toSorted((a, b) => a.start - b.start).filter(isFirst);
}

/** Whether no finding before it, of those in the order of the text, has the same name at the same place. */
function isFirst({ start, name }: LintFinding, at: number, all: readonly LintFinding[]): boolean {
  for (let before = at - 1; all[before]?.start === start; before--) if (all[before]!.name === name) return false;
  return true;
}

const typeName = /^BuilderFlag(?:\.|::k)(?:FP16|BF16|INT8)$/;

/** `11.2` as 11002. */
function versionNumber(text: string): number {
  const dot = text.indexOf('.');
  return dot < 0 ? Number(text) * 1000 : Number(text.slice(0, dot)) * 1000 + Number.parseInt(text.slice(dot + 1), 10);
}

const stepOfCommand = ([text = '']: readonly string[]): TypedStep | null => stepOfShell(text);

function flagFindings(
  flags: readonly FoundFlag[],
  version: number,
  target: string,
  stepOf: (command: readonly string[]) => TypedStep | null,
): LintFinding[] {
  // Each command's flags are next to each other.
  let last: readonly string[] | undefined;
  return flags.flatMap((found) => {
    const findings = findingsOf(found, version, target);
    const [first] = findings;
    if (first?.code !== 'gone' || found.command === last || !asksForType.test(found.flag)) return findings;
    last = found.command;
    first.step = () => stepOf(found.command);
    return findings;
  });
}

function findingsOf(found: FoundFlag, version: number, target: string): LintFinding[] {
  const { tool, flag, value, start, end } = found;
  if (tool === 'polygraphy') {
    const [sets, since] = polygraphySets[flag] ?? [];
    if (sets !== undefined && since !== undefined && version >= versionNumber(since)) {
      const message = `${flag} sets ${sets}, which is gone since TensorRT ${since}.`;
      return [{ start, end, code: 'gone', name: flag, message, advice: trtexecFlags[flag]![2], fix: null }];
    }
    const advice = polygraphyFlags[flag];
    if (advice === undefined) return [];
    return [
      {
        start,
        end,
        code: 'gone',
        name: flag,
        message: `${flag} is gone since Polygraphy 0.49.7.`,
        advice,
        fix: null,
      },
    ];
  }
  const [first, gone, advice] = trtexecFlags[flag] ?? ['', '', ''];
  if (gone !== '' && version >= versionNumber(gone)) {
    const instead = flagInstead(found);
    const whole = end + (value === null ? 0 : value.length + 1);
    const fix = instead === null ? null : { start, end: whole, text: instead };
    return [{ start, end, code: 'gone', name: flag, message: `${flag} is gone since TensorRT ${gone}.`, advice, fix }];
  }
  if (first !== '' && first !== '8.6' && version < versionNumber(first)) {
    const message = `${flag} came with TensorRT ${first}; ${target} does not know it.`;
    return [{ start, end, code: 'too-new', name: flag, message, advice: '', fix: null }];
  }
  return [];
}

/** `getattr(trt.BuilderFlag, "FP16", None)`: nothing fails there, and what was asked for is not done. */
function lintGetattr(
  text: string,
  { code, strings }: MaskedSource,
  version: number,
  imports: TensorrtImports,
): LintFinding[] {
  const findings: LintFinding[] = [];
  for (const { index, 1: owner, 0: call } of code.matchAll(/\bgetattr\s*\(\s*([A-Za-z_][\w.]*)\s*,/g)) {
    const string = strings.find(({ start }) => start > index + call.length);
    const name = string === undefined ? '' : text.slice(string.start, string.end);
    const path = pathIn(partsOf(owner!, index + call.indexOf(owner!)), imports);
    const full = `${path?.[0]?.text ?? ''}.${name}`;
    const gone = string === undefined || !/^\w+$/.test(name) ? undefined : python.get(full);
    if (gone === undefined || version < versionNumber(gone.since)) continue;
    const words = goneWords(full, gone, null, false);
    const lost = /^,\s*\S/.test(text.slice(string!.end + 1).trimStart())
      ? ` getattr gives its default there, so that nothing fails and the engine is built without ${name}.`
      : '';
    findings.push({ start: index, end: string!.end + 1, ...words, message: words.message + lost, fix: null });
  }
  return findings;
}

function lintPython(text: string, { code, strings }: MaskedSource, version: number): LintFinding[] {
  const imports = tensorrtImports(code);
  if (imports === null) return [];
  const types = pythonTypes(code, imports);
  const own = new Set([...code.matchAll(/\bdef[ \t]+(\w+)/g)].map(([, name]) => name!));
  const findings: LintFinding[] = [];
  const add = (span: TextPart, name: string, receiver: string | null): boolean => {
    const gone = python.get(name);
    if (gone === undefined || version < versionNumber(gone.since)) return false;
    const words = goneWords(name, gone, receiver, isGuardedPython(code, span.start));
    findings.push({
      ...span,
      ...words,
      fix: words.code === 'gone' ? pythonFix(text, code, span, name, imports) : null,
    });
    return true;
  };
  findings.push(...lintGetattr(text, { code, strings }, version, imports));
  for (const { index, 0: chain } of code.matchAll(/(?<![\w.])[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*/g)) {
    const parts = partsOf(chain, index);
    const first = parts[0]!;
    const path = pathIn(parts, imports);
    if (path !== null) {
      const [type, member] = path;
      if (type !== undefined && isDeprecatedPlugin(type.text)) findings.push(deprecatedPlugin(type, type.text));
      else if (type !== undefined) {
        const all = add({ start: first.start, end: type.end }, type.text, null);
        if (!all && member !== undefined)
          add({ start: first.start, end: member.end }, `${type.text}.${member.text}`, null);
      }
      continue;
    }
    for (let at = 1; at < parts.length; at++) {
      const member = parts[at]!;
      const receiver = parts
        .slice(0, at)
        .map((part) => part.text)
        .join('.');
      const found = types.of(receiver);
      if (found && found.known) {
        const owner = ownerOf(found.type, member.text);
        if (owner !== null) add(member, owner, null);
      } else if (!own.has(member.text) && !anyObject.test(receiver)) {
        const owner = (found && ownerOf(found.type, member.text)) ?? distinctOwner(member.text);
        if (owner !== null) add(member, owner, receiver);
      }
    }
  }
  return findings;
}

/** Objects that have any member, such as the arguments of a command line. */
const anyObject = /^(?:self|cls|args|opts?|options|params|cfg|settings)$/;

const distinctOwner = (member: string): string | null => {
  const owner = distinctPython.get(member);
  return owner === undefined ? null : `${owner}.${member}`;
};

/** The name in the table for a member of a type; layers also have those of ILayer. */
function ownerOf(type: string, member: string): string | null {
  if (python.has(`${type}.${member}`)) return `${type}.${member}`;
  return type.endsWith('Layer') && python.has(`ILayer.${member}`) ? `ILayer.${member}` : null;
}

interface Part extends TextPart {
  text: string;
}

const partsOf = (chain: string, at: number): Part[] =>
  [...chain.matchAll(/\w+/g)].map(({ index, 0: text }) => ({ text, start: at + index, end: at + index + text.length }));

/** What of a chain of names is within TensorRT's module, under TensorRT's own names; null: it is not of the module. */
function pathIn(parts: readonly Part[], { modules, names }: TensorrtImports): Part[] | null {
  const [first, ...rest] = parts as [Part, ...Part[]];
  if (modules.has(first.text)) return rest;
  const real = names.get(first.text);
  return real === undefined ? null : [{ ...first, text: real }, ...rest];
}

/** The same in C++: `.` stands for `::`. */
function lintCpp(text: string, { code }: MaskedSource, version: number): LintFinding[] {
  if (!usesTensorrt(text)) return [];
  const types = cppTypes(code);
  const isGuarded = guardedCpp(code);
  const findings: LintFinding[] = [];
  const add = (span: TextPart, name: string, receiver: string | null): boolean => {
    const gone = cpp.get(name);
    if (gone === undefined || version < versionNumber(gone.since)) return false;
    const words = goneWords(name.replace('.', '::'), gone, receiver, isGuarded(span.start));
    findings.push({ ...span, ...words, fix: null });
    return true;
  };
  for (const { index, 0: chain } of code.matchAll(/\b[A-Z]\w*(?:::\w+)?/g)) {
    const [type, member] = chain.split('::') as [string, string?];
    const span = { start: index, end: index + chain.length };
    if (isDeprecatedPlugin(type)) findings.push(deprecatedPlugin(span, type));
    else if (!add({ start: index, end: index + type.length }, type, null) && member !== undefined)
      add(span, `${type}.${member}`, null);
  }
  for (const match of code.matchAll(/\b([A-Za-z_]\w*)\s*(?:\(\s*\)\s*)?(?:->|\.)\s*(\w+)\s*\(/g)) {
    const [whole, receiver, member] = match as unknown as [string, string, string];
    const start = match.index + whole.lastIndexOf(member);
    const span = { start, end: start + member.length };
    const type = types.get(receiver);
    const owner = distinctCpp.get(member);
    if (type !== undefined) {
      const base = type.endsWith('Layer') && !cpp.has(`${type}.${member}`) ? 'ILayer' : type;
      add(span, `${base}.${member}`, null);
    } else if (owner !== undefined) add(span, `${owner}.${member}`, receiver);
  }
  return findings;
}

/** `receiver`: an object that may be of this type; null: it is. `guarded`: other code may run on that version. */
function goneWords(
  name: string,
  { since, advice }: Gone,
  receiver: string | null,
  guarded: boolean,
): Pick<LintFinding, 'code' | 'name' | 'message' | 'advice'> {
  const [owner] = name.split(/::|\./) as [string];
  const conditions = [
    receiver === null ? '' : `, if ${receiver} is ${/^[AEIO]/.test(owner) ? 'an' : 'a'} ${owner}`,
    guarded ? (receiver === null ? ', if this branch runs there' : ' and this branch runs there') : '',
  ].join('');
  const message = `${name} is gone since TensorRT ${since}${conditions}.`;
  return { code: conditions === '' ? 'gone' : 'perhaps-gone', name, message, advice };
}

/** Announced to be removed with 11, and still there in the wheel of 11.4.0. */
const isDeprecatedPlugin = (name: string): boolean =>
  /^I?PluginV2(?:Ext|IOExt|DynamicExt|DynamicExtBase)?$|^IPluginCreator$/.test(name);

const deprecatedPlugin = ({ start, end }: TextPart, name: string): LintFinding => ({
  start,
  end,
  code: 'deprecated',
  name,
  message: `${name} is deprecated; TensorRT ${newestTarget} still has it.`,
  advice: 'Write new plugins with IPluginV3.',
  fix: null,
});

function pythonFix(
  text: string,
  code: string,
  { start, end }: TextPart,
  name: string,
  { modules }: TensorrtImports,
): LintFinding['fix'] {
  const [, member] = name.split('.');
  if (name === 'NetworkDefinitionCreationFlag.EXPLICIT_BATCH') {
    // `1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)`
    const before = /1\s*<<\s*(?:(?:int|\(\s*int\s*\))\s*\(\s*)?$/.exec(code.slice(0, start))?.[0];
    const behind = before?.endsWith('(') ? /^\s*\)/.exec(code.slice(end))?.[0] : '';
    return before === undefined || behind === undefined
      ? null
      : { start: start - before.length, end: end + behind.length, text: '0' };
  }
  if (name === 'IBuilderConfig.max_workspace_size') {
    const [module] = modules;
    const assigned = /^\s*=(?!=)\s*(?=[^\s#])([^\n#]*[^\s#])\s*$/m.exec(code.slice(end).split('\n', 1)[0]!)?.[1];
    if (module === undefined || assigned === undefined || /[\\([{]$/.test(assigned)) return null;
    const size = text.slice(end).split('\n', 1)[0]!;
    const at = end + code.slice(end).indexOf(assigned);
    return {
      start,
      end: at + assigned.length,
      text: `set_memory_pool_limit(${module}.MemoryPoolType.WORKSPACE, ${size.slice(at - end, at - end + assigned.length)})`,
    };
  }
  const instead = renamed[name];
  return instead === undefined || member === undefined ? null : { start: end - member.length, end, text: instead };
}

/** Flags that say types: the model has them instead. */
const typeFlags =
  /^--(?:fp16|bf16|int8|fp8|int4|best|calib|calibProfile|(?:min|opt|max)ShapesCalib|layerPrecisions|layerOutputTypes|precisionConstraints|layer-precisions|precision-constraints|calibration-cache)(?:=|$)/;

/**
 * A command with the typed model `model` in place of its own, as the newest version has it: without flags for types, and
 * what is gone replaced, or `left` out where nothing takes its place.
 */
export function typedCommand(command: readonly string[], model: string): { words: string[]; left: string[] } {
  const named = modelOfCommand(command);
  const given = command.map((word, at) =>
    at === named?.at ? (word.startsWith('--onnx=') ? `--onnx=${model}` : model) : word,
  );
  const words = given.slice(0, 1);
  const left: string[] = [];
  const tool = /polygraphy/i.test(command.slice(0, 3).join(' ')) ? 'polygraphy' : 'trtexec';
  let dropping = false;
  for (const word of given.slice(1)) {
    if (!word.startsWith('-')) {
      // The values of a flag that is left out.
      if (!dropping || /\.onnx$/i.test(word)) words.push(word);
      continue;
    }
    const gone = lintSource(`${tool} ${word}`, 'shell').find(({ code }) => code === 'gone');
    const isType = typeFlags.test(word);
    dropping = isType || (gone !== undefined && gone.fix === null);
    if (isType) continue;
    if (gone === undefined) words.push(word);
    else if (gone.fix === null) left.push(gone.name);
    else if (gone.fix.text !== '') words.push(gone.fix.text);
  }
  return { words, left };
}
