// What the tests of precedence and `npm run rules:coverage` run.
export { diagnoseLog } from '../../src/core/diagnose/diagnoseLog.ts';
export { RULES } from '../../src/core/diagnose/internal/ruleTable.ts';
export { BuildLogReader } from '../../src/core/formats/tensorrt/readBuildLog.ts';
