import { BuildLogReader } from '../../src/core/formats/tensorrt/readBuildLog.ts';
import { readLayerInfo, readProfile } from '../../src/core/formats/tensorrt/readLayerInfo.ts';
import { createEngineReport, createReport } from '../../src/core/fusion/createReport.ts';
import type { ReportInput } from '../../src/core/fusion/fusionReport.ts';
import { inspectFile } from '../../src/core/inspect/inspectFile.ts';
import { readModel } from '../../src/core/formats/onnx/readModel.ts';
import { engineGraph } from '../../src/core/picture/graph/fusionGroups.ts';
import { toGraphData, type ViewData } from '../../src/core/picture/graph/viewData.ts';
import { typedGraph } from '../../src/core/picture/page/selectionText.ts';
import { bytesOf, type ByteSource, errorText, type Problem } from '../../src/core/base/problem.ts';
import { decodeUtf8, Utf8Decoder } from '../../src/core/base/text.ts';
import { strings } from '../shared/strings.ts';

const texts = strings.playground.files;

/** What was opened so far: a log that comes later joins the model that came first. */
interface Opened extends Partial<
  Pick<ReportInput, 'model' | 'modelFile' | 'modelProblems' | 'log' | 'layerInfo' | 'profile'>
> {
  /** Name of the file that was opened last of those that list layers. */
  listing?: string;
}

/** Bytes of a log that are read at a time. */
const chunk = 1 << 22;

/**
 * Reads files that the user opened or dropped, by their content: a model, build logs, layer info, profiles, each
 * gzip-compressed or not. Nothing leaves the page. Each call adds to what was there before; a new model starts again. A
 * call waits for the one before it, otherwise a log that takes long would join a model that came after it.
 * `messages` says of each file that could not be used why. Without a model, `data` is that of the engine; null where no
 * file lists layers either.
 */
export function droppedFiles(): (files: readonly File[]) => Promise<{ data: ViewData | null; messages: string[] }> {
  let opened: Opened = {};
  const problems = new Map<string, Problem[]>();
  const read = async (files: readonly File[]) => {
    const messages: string[] = [];
    for (const file of files) {
      try {
        const { found, ...parts } = await readOne(file, messages);
        if (parts.model !== undefined) {
          // A build belongs to one model: of another one's log nothing may stay.
          const given = new Set(files.map(({ name }) => name));
          if (opened.model !== undefined) opened = {};
          for (const name of problems.keys()) if (!given.has(name)) problems.delete(name);
        }
        problems.set(file.name, found);
        opened = { ...opened, ...parts };
      } catch (error) {
        messages.push(texts.unreadable(file.name, errorText(error)));
      }
    }
    const data = toData(opened, [...problems.values()].flat());
    if (data === null || data.report?.subject === 'engine') messages.push(texts.noModel);
    return { data, messages };
  };
  let before: Promise<unknown> = Promise.resolve();
  return (files) => {
    const result = before.then(() => read(files));
    before = result.catch(() => {});
    return result;
  };
}

async function readOne(file: File, messages: string[]): Promise<Opened & { found: Problem[] }> {
  const source = await sourceOf(file);
  const { kind, summary, problems } = await inspectFile(source, { name: file.name });
  const named = (found: Problem[]): Problem[] => found.map((problem) => ({ file: file.name, ...problem }));
  switch (kind) {
    case 'onnx': {
      const { value, problems: found } = await readModel(source);
      const wrong = found.find(({ severity }) => severity === 'error');
      if (value === undefined || (value.nodes.length === 0 && wrong !== undefined)) {
        throw new Error(wrong?.message ?? summary);
      }
      // What could be read of a damaged model is shown, and what is wrong with it said.
      if (wrong !== undefined) messages.push(texts.damaged(file.name, wrong.message));
      return { model: value, modelFile: file.name, modelProblems: named(found), found: [] };
    }
    case 'build-log': {
      const { value, problems: found } = await readLog(source);
      return { log: value, listing: file.name, found: named(found) };
    }
    case 'layer-info': {
      const { value, problems: found } = readLayerInfo(await textOf(source));
      return { ...(value === undefined ? {} : { layerInfo: value, listing: file.name }), found: named(found) };
    }
    case 'profile': {
      const { value, problems: found } = readProfile(await textOf(source));
      return { ...(value === undefined ? {} : { profile: value, listing: file.name }), found: named(found) };
    }
    default:
      messages.push(texts.useless(file.name, problems[0]?.message ?? summary));
      return { found: [] };
  }
}

function toData(opened: Opened, problems: Problem[]): ViewData | null {
  const { model, modelFile = '', log, layerInfo, profile } = opened;
  if (model === undefined || model === null) return engineView(opened, problems);
  const build = log !== undefined || layerInfo !== undefined;
  const known = toGraphData(model);
  const graph = build ? known : typedGraph(known, model);
  const hints = [
    ...(build ? [] : [texts.noBuild]),
    ...(build && log === undefined ? [texts.noLog] : []),
    ...(build && layerInfo === undefined ? [texts.noLayers] : []),
    ...(build && profile === undefined && (log?.profile.length ?? 0) === 0 ? [texts.noProfile] : []),
  ];
  return {
    title: modelFile,
    graph,
    report: build ? createReport({ ...opened, model, modelFile, problems }) : null,
    build: null,
    hints,
  };
}

/** What the files say of an engine whose model was not opened; null where they list no layers. */
function engineView({ log, layerInfo, profile, listing = '' }: Opened, problems: Problem[]): ViewData | null {
  if (log === undefined && layerInfo === undefined && profile === undefined) return null;
  const engine = createEngineReport({ file: listing, log, layerInfo, profile, problems });
  if (engine.report.layers.length === 0) return null;
  const { graph, report } = engineGraph(engine);
  return { title: listing, graph, report, build: null, hints: [texts.noModel] };
}

async function sourceOf(file: File): Promise<ByteSource> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (head[0] === 0x1f && head[1] === 0x8b) {
    const unpacked = file.stream().pipeThrough(new DecompressionStream('gzip'));
    return bytesOf(new Uint8Array(await new Response(unpacked).arrayBuffer()));
  }
  return {
    size: file.size,
    read: async (offset, length) => new Uint8Array(await file.slice(offset, offset + length).arrayBuffer()),
  };
}

async function textOf(source: ByteSource): Promise<string> {
  return decodeUtf8(await source.read(0, source.size));
}

async function readLog(source: ByteSource): Promise<ReturnType<BuildLogReader['end']>> {
  const reader = new BuildLogReader();
  const decoder = new Utf8Decoder();
  for (let offset = 0; offset < source.size; offset += chunk) {
    reader.push(decoder.push(await source.read(offset, chunk)));
  }
  reader.push(decoder.end());
  return reader.end();
}
