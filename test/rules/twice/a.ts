export interface Thing {
  size: number;
}

export async function make(): Promise<Thing> {
  return Promise.resolve({ size: 1 });
}
