/** Commands for override files and replays that no code lens names; those are in protocol/language.ts. */
export const languageCommandIds = {
  showNodesHere: 'tensorrtLens.showNodesHere',
  openOverrides: 'tensorrtLens.openOverrides',
  importPrecisionFlags: 'tensorrtLens.importPrecisionFlags',
  copyPrecisionFlags: 'tensorrtLens.copyPrecisionFlags',
  keepFp32: 'tensorrtLens.keepFp32',
  recordReplay: 'tensorrtLens.recordReplay',
  pinLayer: 'tensorrtLens.pinLayer',
  freeLayer: 'tensorrtLens.freeLayer',
  compareReplays: 'tensorrtLens.compareReplays',
} as const;
