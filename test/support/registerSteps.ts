import { registerSteps } from '../../src/registry.ts';

registerSteps();
