/**
 * `scope`: from names. `repeat`: numbered siblings of one structure, shown once with their number. `owner`: a node with
 * subgraphs (it is itself the first of `own`). `branch`: one of its subgraphs. `part`: found in the structure, where
 * names say nothing.
 */
export type ModuleKind = 'root' | 'scope' | 'repeat' | 'owner' | 'branch' | 'part';

/** A module before it is numbered. */
export interface Draft {
  id: string;
  label: string;
  kind: ModuleKind;
  children: Draft[];
  own: number[];
  /** Smallest topological position in it. */
  first: number;
}

/** An empty module. */
export const draft = (id: string, label: string, kind: ModuleKind): Draft => ({
  id,
  label,
  kind,
  children: [],
  own: [],
  first: Infinity,
});
