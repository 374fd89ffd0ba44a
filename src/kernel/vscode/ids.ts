import { graphCommands } from '../protocol/graphActions.ts';
import { languageCommands } from '../protocol/language.ts';

/** Names that package.json and the code must agree on; test/unit/host checks that they do. */
export const commands = {
  build: 'tensorrtLens.build',
  buildAs: 'tensorrtLens.buildAs',
  cancelBuild: 'tensorrtLens.cancelBuild',
  openGraph: 'tensorrtLens.openGraph',
  openWith: 'tensorrtLens.openWith',
  chooseModel: 'tensorrtLens.chooseModel',
  selectOptimizationProfile: 'tensorrtLens.selectOptimizationProfile',
  compareEngine: 'tensorrtLens.compareEngine',
  readEngine: 'tensorrtLens.readEngine',
  openEngineLayers: 'tensorrtLens.openEngineLayers',
  readTimingCache: 'tensorrtLens.readTimingCache',
  openSample: 'tensorrtLens.openSample',
  buildSample: 'tensorrtLens.buildSample',
  openSampleFusion: 'tensorrtLens.openSampleFusion',
  openFusionPage: 'tensorrtLens.openFusionPage',
  attach: 'tensorrtLens.attach',
  pasteLog: 'tensorrtLens.pasteLog',
  diagnosePastedLog: 'tensorrtLens.diagnosePastedLog',
  showBuild: 'tensorrtLens.showBuild',
  compareBuilds: 'tensorrtLens.compareBuilds',
  openBuildLog: 'tensorrtLens.openBuildLog',
  revealBuild: 'tensorrtLens.revealBuild',
  copyCommandOfBuild: 'tensorrtLens.copyCommandOfBuild',
  rerunBuild: 'tensorrtLens.rerunBuild',
  deleteBuild: 'tensorrtLens.deleteBuild',
  nameBuild: 'tensorrtLens.nameBuild',
  openHistoryItem: 'tensorrtLens.openHistoryItem',
  openLog: 'tensorrtLens.openLog',
  refresh: 'tensorrtLens.refresh',
  sort: 'tensorrtLens.sort',
  search: 'tensorrtLens.search',
  clearSearch: 'tensorrtLens.clearSearch',
  selectItem: 'tensorrtLens.selectItem',
  showOutput: 'tensorrtLens.showOutput',
  ...languageCommands,
  writeTypedModel: 'tensorrtLens.writeTypedModel',
  showNodesHere: 'tensorrtLens.showNodesHere',
  openOverrides: 'tensorrtLens.openOverrides',
  importPrecisionFlags: 'tensorrtLens.importPrecisionFlags',
  copyPrecisionFlags: 'tensorrtLens.copyPrecisionFlags',
  keepFp32: 'tensorrtLens.keepFp32',
  keepFp16: 'tensorrtLens.keepFp16',
  keepBf16: 'tensorrtLens.keepBf16',
  findSensitiveNodes: 'tensorrtLens.findSensitiveNodes',
  comparePrecisions: 'tensorrtLens.comparePrecisions',
  openAccuracyPage: 'tensorrtLens.openAccuracyPage',
  addFix: 'tensorrtLens.addFix',
  writeRemedy: 'tensorrtLens.writeRemedy',
  runEngine: 'tensorrtLens.runEngine',
  findWrongNodes: 'tensorrtLens.findWrongNodes',
  saveFixedModel: 'tensorrtLens.saveFixedModel',
  saveWrongPiece: 'tensorrtLens.saveWrongPiece',
  copyPolygraphyCommand: 'tensorrtLens.copyPolygraphyCommand',
  profileBuild: 'tensorrtLens.profileBuild',
  openQuantizationPage: 'tensorrtLens.openQuantizationPage',
  useCalibrationCache: 'tensorrtLens.useCalibrationCache',
  evaluateGate: 'tensorrtLens.evaluateGate',
  checkModel: 'tensorrtLens.checkModel',
  fixBuildProblem: 'tensorrtLens.fixBuildProblem',
  changeModel: 'tensorrtLens.changeModel',
  extractNodes: 'tensorrtLens.extractNodes',
  splitHere: 'tensorrtLens.splitHere',
  whatIf: 'tensorrtLens.whatIf',
  replaceByPlugin: 'tensorrtLens.replaceByPlugin',
  repairModel: 'tensorrtLens.repairModel',
  reduceModel: 'tensorrtLens.reduceModel',
  createGate: 'tensorrtLens.createGate',
  writeTritonConfig: 'tensorrtLens.writeTritonConfig',
  suggestSplit: 'tensorrtLens.suggestSplit',
  migrateCalibration: 'tensorrtLens.migrateCalibration',
  writeTorchHook: 'tensorrtLens.writeTorchHook',
  ...graphCommands,
  copyName: 'tensorrtLens.copyName',
  copySelector: 'tensorrtLens.copySelector',
  copyMarkdown: 'tensorrtLens.copyMarkdown',
  revealInLog: 'tensorrtLens.revealInLog',
  revealInText: 'tensorrtLens.revealInText',
  goToSource: 'tensorrtLens.goToSource',
  showTactics: 'tensorrtLens.showTactics',
  showMemory: 'tensorrtLens.showMemory',
  showInTimeline: 'tensorrtLens.showInTimeline',
  showInTable: 'tensorrtLens.showInTable',
  revealInGraph: 'tensorrtLens.revealInGraph',
} as const;

export const graphViewType = 'tensorrtLens.graph';
export const engineViewType = 'tensorrtLens.engine';
export const cacheViewType = 'tensorrtLens.cache';
export const fusionPageViewType = 'tensorrtLens.fusionPage';
export const comparisonViewType = 'tensorrtLens.comparison';
export const accuracyViewType = 'tensorrtLens.accuracyPage';
export const bisectViewType = 'tensorrtLens.bisectPage';
export const quantizationViewType = 'tensorrtLens.quantizationPage';
export const fusionTreeId = 'tensorrtLens.fusion';
export const historyTreeId = 'tensorrtLens.builds';
/** Scheme of the texts in which two builds are compared. */
export const comparisonScheme = 'tensorrt-lens-comparison';
/** Language of gate files (`*.gate.yaml`). */
export const gateLanguage = 'trtgate';
export const taskType = 'tensorrt';
export const settingsSection = 'tensorrtLens';

/** Keys of `when` clauses. */
export const contextKeys = {
  /** What the side bar shows: PanelState. */
  panel: 'tensorrtLens.panel',
  building: 'tensorrtLens.building',
  searching: 'tensorrtLens.searching',
  hasLog: 'tensorrtLens.hasLog',
  /** The active editor shows a tactic replay. */
  replay: 'tensorrtLens.replay',
  /** Whether the history shows any build. */
  hasBuilds: 'tensorrtLens.hasBuilds',
  /** The current model has Q/DQ nodes, or a calibration cache is in use for it. */
  quantized: 'tensorrtLens.quantized',
} as const;

export type PanelState = 'empty' | 'loading' | 'unreadable' | 'noBuild' | 'failed' | 'report';

/** Before the name of each tool for agents. */
export const agentToolPrefix = 'tensorrtLens_';
