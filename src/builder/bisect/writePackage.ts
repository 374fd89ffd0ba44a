import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { planAnonymous } from '../../core/formats/onnx/editModel.ts';
import type { ModelGraph } from '../../core/network/modelGraph.ts';
import { extractSubgraph } from '../surgery/extractSubgraph.ts';
import { subgraphOf } from '../../core/surgery/extractModel.ts';
import type { WorkerInfo } from './engineWorker.ts';
import type { TriedPiece } from './pieces.ts';
import type { Reference } from './reference.ts';
void planAnonymous;
void extractSubgraph;
void subgraphOf;
void copyFile;
void mkdir;
void writeFile;
void basename;
void join;

export interface PackageRequest {
  /** Folder, or a file that ends in `.zip`. */
  out: string;
  piece: TriedPiece;
  graph: ModelGraph;
  info: WorkerInfo;
  anonymize: boolean;
  fixed: string | null;
  reference: Reference;
}
export async function writePackage(
  request: PackageRequest,
): Promise<{ model: string; inputs: string; fixed: string | null }> {
  return { model: request.piece.model, inputs: request.piece.inputs, fixed: request.fixed };
}
