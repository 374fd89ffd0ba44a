// Modules other than src/host see this instead of the editor's API, so that any use of it fails to compile.
export type NotInThisRoom = never;
