import { expect, it } from 'vitest';
import { SvgBrush } from '../../../webview/graph/draw/internal/svgBrush.ts';

it('writes whatever a model’s names hold as text of an XML file', () => {
  const brush = new SvgBrush('"Segoe UI", sans-serif');
  // Markup, control characters, half an emoji as a cut label has it, and what is no character.
  brush.text('<b a="1">&\u0000\u0008\ud83d\ufffe\uffff 🚀', 1, 2, { size: 12, color: 'red' });
  const svg = brush.finish(10, 10, 'white', '</title>\uffff');
  expect(svg).toContain(`>&lt;b a=&quot;1&quot;&gt;&amp;${' '.repeat(6)}🚀</text>`);
  expect(svg).toContain('<title>&lt;/title&gt; </title>');
  expect(svg).not.toMatch(/[\u0000-\u0008\ufffe\uffff]|\p{Surrogate}/u);
});
