import { type CompletionItem, CompletionItemKind, type CompletionList, type Position } from 'vscode-languageserver';
import {
  alternatives,
  formatWords,
  freeLayers,
  offerFor,
  titleOf,
  titlesOf,
} from '../../../kernel/read/replay/readChoices.ts';
import {
  type EntryPlaces,
  type ReplayEntry,
  type Span,
  type SpanEdit,
  typeSignature,
} from '../../../kernel/read/replay/replayFile.ts';
import { addEntry, replaceAlgorithm } from '../editReplay.ts';
import { spanEdit, spanRange } from '../../../kernel/server/places.ts';
import { entryAt, type ReplayAnalysis } from './replayAnalysis.ts';

const most = 60;

/** Inside an entry: what TensorRT offered for the layer; picking one changes the whole entry together. */
export function replayCompletion(analysis: ReplayAnalysis, place: Position): CompletionList {
  const entry = entryAt(analysis, place);
  const items = entry ? choiceItems(analysis, entry, place) : layerItems(analysis, place);
  return { isIncomplete: false, items };
}

function choiceItems(analysis: ReplayAnalysis, entry: ReplayEntry, place: Position): CompletionItem[] {
  const { document, facts, read } = analysis;
  const offer = offerFor(entry.layer, facts.choices);
  const offset = document.offsetAt(place);
  const token = tokens(entry.places).find(({ start, end }) => start <= offset && offset <= end);
  if (!offer || !token || !read.value) return [];
  const written = document.getText().slice(token.start, token.end);
  const items: CompletionItem[] = [];
  const choices = alternatives(entry, offer).slice(0, most);
  const titles = titlesOf(choices);
  for (const [i, choice] of choices.entries()) {
    const edits = replaceAlgorithm(document.getText(), read.value, entry, choice.algorithm);
    if (!edits) continue;
    const main = edits.find(({ start, end }) => start === token.start && end === token.end) ?? {
      ...token,
      text: written,
    };
    const rest = edits.filter(({ start, end }) => end <= main.start || start >= main.end);
    // A list that is written again as a whole has no room for the token's own edit.
    if (rest.length + (edits.includes(main) ? 1 : 0) !== edits.length) continue;
    const { inputs, outputs } = choice.algorithm;
    items.push({
      label: titles[i]!,
      kind: CompletionItemKind.Snippet,
      detail: typeSignature(choice.algorithm),
      documentation: [
        ...inputs.map((format, n) => `Input ${n}: ${formatWords(format)}`),
        ...outputs.map((format, n) => `Output ${n}: ${formatWords(format)}`),
      ].join('\n'),
      sortText: String(i).padStart(4, '0'),
      // The editor filters by what is at the cursor; every choice is meant to stay in the list.
      filterText: written,
      textEdit: spanEdit(document, main),
      additionalTextEdits: rest.map((edit) => spanEdit(document, edit)),
    });
  }
  return items;
}

/** Ids and data types: single words on one line. */
function tokens(places: EntryPlaces): Span[] {
  return [places.implementation, places.tactic, ...places.tensors.map(({ dtype }) => dtype)].filter(
    (span) => span !== null,
  );
}

/** Between entries: layers that the file leaves free, as they were chosen, otherwise as they would be fastest. */
function layerItems({ document, facts, read }: ReplayAnalysis, place: Position): CompletionItem[] {
  const { value } = read;
  const offset = document.offsetAt(place);
  if (!value || offset <= value.span.start || offset >= value.span.end) return [];
  const here: SpanEdit = { start: offset, end: offset, text: '' };
  const items: CompletionItem[] = [];
  for (const { layer, algorithm, offered } of freeLayers(value.entries, facts.choices).slice(0, most)) {
    const edits = addEntry(document.getText(), value, layer, algorithm);
    if (!edits) continue;
    items.push({
      label: `Pin ${layer}`,
      kind: CompletionItemKind.Snippet,
      detail: offered === null ? typeSignature(algorithm) : titleOf(offered),
      filterText: '',
      textEdit: { range: spanRange(document, here), newText: '' },
      additionalTextEdits: edits.map((edit) => spanEdit(document, edit)),
    });
  }
  return items;
}
