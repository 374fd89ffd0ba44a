import { strings } from '../shared/strings.ts';

/** A button that opens files, and the whole page as a place to drop them on. */
export function dropTarget(parent: HTMLElement, onFiles: (files: File[]) => void): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.hidden = true;
  input.setAttribute('aria-label', strings.playground.files.open);
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'open-files';
  button.textContent = strings.playground.files.open;
  button.title = strings.playground.files.hint;
  button.addEventListener('click', () => input.click());
  input.addEventListener('change', () => {
    const files = [...(input.files ?? [])];
    // The same file may be chosen again after it changed on disk.
    input.value = '';
    if (files.length > 0) onFiles(files);
  });
  parent.append(button, input);

  const carriesFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
  const mark = (on: boolean) => document.documentElement.classList.toggle('dropping', on);
  window.addEventListener('dragover', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    mark(true);
  });
  window.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) mark(false);
  });
  window.addEventListener('drop', (event) => {
    mark(false);
    if (!carriesFiles(event)) return;
    event.preventDefault();
    onFiles([...(event.dataTransfer?.files ?? [])]);
  });
}
