/** The operator of the node that the parser was at, where a message of it says so. */
export const parsedOp = (text: string): string | undefined =>
  /While parsing node number \d+ \[(?:(\S+) ->|([^\s\]]*)\])/.exec(text)?.slice(1).find(Boolean) ??
  /\bnode \d+ '.*' \((\w+)\): /.exec(text)?.[1] ??
  /In node -?\d+ with name: .*? and operator: (\w+)/.exec(text)?.[1] ??
  /\bop_type: "(\w+)"/.exec(text)?.[1] ??
  /In (?:function|node -?\d+ \()(?:import|check)(?!Fallback|NotInvalid|Initializers|Input)([A-Z]\w*)/.exec(text)?.[1];
