/** What esbuild.mjs turns into modules: a style sheet (collected next to the bundle), an icon's and a worker's bundled text. */
declare module '*.css';
declare module 'worker:*' {
  const code: string;
  // oxlint-disable-next-line import/no-default-export -- this is how esbuild's text loader hands out its text
  export default code;
}
declare module '*.svg' {
  const markup: string;
  // oxlint-disable-next-line import/no-default-export -- this is how esbuild's text loader hands out its text
  export default markup;
}
