import type { Uri } from 'vscode';
import { besideModel } from './modelFile.ts';

/** The override file of a model: `model.trtprec` next to `model.onnx`. */
export const overridesOf = (model: Uri): Uri => besideModel(model, '.trtprec');
