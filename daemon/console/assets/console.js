// Small comforts; every page works without them. Copies a code block by a click, and moves through mail by keys: j and k
// go down and up, Enter opens, / searches, u goes back.
const rows = () => [...document.querySelectorAll('tbody tr')];
let at = -1;

function select(next) {
  const all = rows();
  if (all.length === 0) return;
  at = Math.max(0, Math.min(all.length - 1, next));
  for (const [index, row] of all.entries()) row.classList.toggle('selected', index === at);
  const link = all[at].querySelector('a');
  if (link) link.focus();
}

document.addEventListener('keydown', (event) => {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target instanceof HTMLElement && target.matches('input, textarea, select')) return;
  if (key === 'j') select(at + 1);
  else if (key === 'k') select(at - 1);
  else if (key === '/') {
    const search = document.querySelector('[role=search] input');
    if (search) search.focus();
    event.preventDefault();
  } else if (key === 'u') history.back();
});

document.addEventListener('click', (event) => {
  const block = event.target instanceof Element && event.target.closest('[data-copy]');
  if (block && navigator.clipboard) void navigator.clipboard.writeText(block.textContent);
});
