// Measures a page inside of the browser. Evaluates to an object of functions; each returns what
// breaks a bar, in words.
(() => {
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const firstRow = 'main :is(.rows tbody tr:has(a, button), a.th)';
  const placeOf = ({ tagName, className }) =>
    `${tagName.toLowerCase()}${typeof className === 'string' && className ? `.${className.replaceAll(' ', '.')}` : ''}`;
  const textNodes = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const { currentNode: node } = walker;
      if (node.data.trim() !== '' && isShown(node.parentElement)) found.push(node);
    }
    return found;
  };
  /** Returns on how many lines a text lies, and the width of all. */
  const linesOf = (node, from, { length }) => {
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, from + length);
    const rects = [...range.getClientRects()].filter(({ width }) => width > 0.5);
    const tops = new Set(rects.map(({ top }) => Math.round(top / 4)));
    return { count: tops.size, width: rects.reduce((sum, rect) => sum + rect.width, 0) };
  };

  return {
    /** Words that lie on two lines, although a line of the page has space for them. */
    brokenWords() {
      const found = [];
      const most = innerWidth - 62;
      for (const node of textNodes()) {
        const { parentElement: parent } = node;
        const isClipped = parent.getBoundingClientRect().width <= 1;
        if (isClipped || parent.closest('code, pre, .facts dd, textarea, select')) continue;
        for (const { 0: run, index } of node.data.matchAll(/[^\s\-–—]+/g)) {
          const { count, width } = linesOf(node, index, run);
          if (count < 2 || width > most) continue;
          // A browser may break a line beside these signs.
          const words = [...run.matchAll(/[^/?|…<([{]+/g)];
          const isBroken = (word) => linesOf(node, index + word.index, word[0]).count > 1;
          if (words.some(isBroken)) found.push(`${placeOf(parent)}: ${run}`);
        }
      }
      return found;
    },
    /** Ids in the text of the page. */
    ids() {
      const hidden = '.facts, .folds, code, pre, details.same, textarea, select';
      return textNodes()
        .filter((node) => !node.parentElement.closest(hidden))
        .flatMap((node) => node.data.match(/\b[a-z]{3,4}_[0-9A-Za-z]{10,}/g) ?? []);
    },
    /** Views with more than one primary button: the page, and each of its dialogs. */
    crowded() {
      const firstsIn = (place) =>
        [...place.querySelectorAll('.btn.first')].filter(isShown).map((one) => one.textContent);
      const found = [firstsIn(document)];
      for (const dialog of document.querySelectorAll('main [popover]')) {
        dialog.showPopover();
        found.push(firstsIn(dialog));
        dialog.hidePopover();
      }
      return found.filter(({ length }) => length > 1).map((labels) => labels.join(' + '));
    },
    /** Opens folded parts, so that their words are measured too. */
    unfold() {
      for (const one of document.querySelectorAll('main details')) one.open = true;
    },
    /** Pixels from the top of the page to the first row; null without a list. */
    firstRow() {
      const row = document.querySelector('main :is(.rows tbody tr:not(.day), a.th)');
      return row && isShown(row) ? Math.round(row.getBoundingClientRect().top + scrollY) : null;
    },
    /** Returns whether the focus is in the first row with a link or a button. */
    isInFirstRow: () => document.querySelector(firstRow)?.contains(document.activeElement) ?? false,
    blur: () => document.activeElement.blur(),
    isInSkipLink: () => document.activeElement.matches('.skip'),
    overflow: () => Math.max(0, document.documentElement.scrollWidth - innerWidth),
    /** Ids of elements that the page has twice. */
    doubled() {
      const all = [...document.querySelectorAll('[id]')].map(({ id }) => id);
      return all.filter((id, at) => all.indexOf(id) !== at);
    },
  };
})();
