/** Where the driver says that an error is: `node 3 'c' (Conv): CODE: `. A name may have line breaks. */
export const driverNode = (text: string): { place: string; op: string } | undefined => {
  const [, place, op] = /\bnode (\d+) '[\s\S]*?' \((\w+)\): [A-Z_]+: /.exec(text) ?? [];
  return place === undefined || op === undefined ? undefined : { place, op };
};

/** The operator of the node that the parser was at, where a message of it says so. */
export const parsedOp = (text: string): string | undefined =>
  /While parsing node number \d+ \[(?:(\S+) ->|([^\s\]]*)\])/.exec(text)?.slice(1).find(Boolean) ??
  driverNode(text)?.op ??
  /In node -?\d+ with name: .*? and operator: (\w+)/.exec(text)?.[1] ??
  /\bop_type: "(\w+)"/.exec(text)?.[1] ??
  /In (?:function|node -?\d+ \()(?:import|check)(?!Fallback|NotInvalid|Initializers|Input)([A-Z]\w*)/.exec(text)?.[1] ??
  /^No importer registered for op: ?(\w+)/m.exec(text)?.[1];
