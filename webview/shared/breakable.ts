/** Names longer than this, in characters, take one line at most. */
const longest = 28;

/**
 * The parts of a sentence with names in it: paths may break in front of their slashes, and a longer name without any is cut
 * where the line ends, with all of it as its title. The text stays the same.
 */
export function breakable(sentence: string): Node[] {
  return sentence.split(/(?<=\s)/).flatMap((word): Node[] => {
    const name = word.trimEnd();
    if (name.length <= longest) return [document.createTextNode(word)];
    if (name.includes('/')) {
      const parts = name
        .split(/(?=\/)/)
        .flatMap((part) => [document.createElement('wbr'), document.createTextNode(part)]);
      return [...parts, document.createTextNode(word.slice(name.length))];
    }
    const cut = document.createElement('span');
    cut.className = 'cut-name';
    cut.textContent = name;
    cut.title = name;
    return [cut, document.createTextNode(word.slice(name.length))];
  });
}
