// What the tests of precedence and `npm run rules:coverage` run.
export { diagnoseLog } from '../../src/features/diagnose/diagnoseLog.ts';
export { RULES } from '../../src/features/diagnose/internal/ruleTable.ts';
export { BuildLogReader } from '../../src/kernel/read/tensorrt/readBuildLog.ts';
