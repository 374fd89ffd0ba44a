export type Thing = string;
export const make = (): Thing => 'b';
