import type { BuildStep } from '../build/diagnosis.ts';
import type { GraphAction } from './graphActions.ts';
import type { ViewData, PanelSelection } from '../picture/graph/viewData.ts';

/** What the user points at, the same in every view. Ids as in the fusion report. */
export type Selection = PanelSelection;

/** What a view may ask of the extension, in addition to selecting and opening texts. */
export type ViewCommand =
  | 'openFusion'
  | 'openGraph'
  | 'keepFp32'
  | 'keepFp16'
  | 'keepBf16'
  | 'showInTimeline'
  | 'showInTable'
  | 'goToSource'
  | BuildStep;

/** The parts of the Fusion page that a command can bring up. */
export type FusionPart = 'timeline' | 'table';

/** View → host. */
export interface ViewHost {
  /**
   * First message of a view. `shown`: what was posted while its page loaded has arrived, data among it; else it has to be
   * sent all again.
   */
  ready(shown: boolean): void;
  /** The user selected something in this view. */
  selected(selection: Selection): void;
  /** Open the text behind a fact: a line (from 1) of the build log, of that of the build that failed or is compared with, or of the override file. */
  openLine(file: 'log' | 'failedLog' | 'logBefore' | 'overrides', line: number): void;
  /** Save an exported picture; `content` is SVG text or base64 of a PNG. */
  exportPicture(kind: 'svg' | 'png', content: string, name: string): void;
  /** Run one of the extension's commands that a view may offer. */
  run(command: ViewCommand, nodeIds: string[]): void;
  /** An error inside the view, for the log. */
  failed(message: string): void;
}

/** What a running build does now. */
export interface Building {
  /** In a line: `timing tactics: 12 of 23, layer conv1 + relu, 34 s`. */
  text: string;
  /** Ids of the nodes in the name of the layer whose tactics are being timed. */
  nodes: string[];
}

/** Host → view. */
export interface View {
  /** The whole data; null shows the empty state with `message`. */
  show(data: ViewData | null, message: string): void;
  /** Something was selected elsewhere. */
  select(selection: Selection): void;
  /** A build of the model runs, or null: none does any more. A view may do without. */
  building?(building: Building | null): void;
  /** Do what a command of the editor requests, with what is selected. A view may do without. */
  perform?(action: GraphAction): void;
  /** Bring up a part of the page. A view may do without. */
  showPart?(part: FusionPart): void;
}

/** Data on the way to a view: as they are, or, where they are large, their JSON in raw deflate. An editor passes bytes on as they are, but walks objects value by value, once in each of the processes and pages on the way. */
export type PostedData = ViewData | Uint8Array | null;

/** A view as its host posts to it. */
export interface PostedView extends Omit<Required<View>, 'show'> {
  show(data: PostedData, message: string): void;
}
