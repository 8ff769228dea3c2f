// Small comforts: every page works without them. An open page follows changes (data-live). A click
// copies a code block. Keys move through mail: j and k go down and up, Enter opens, / searches, u
// goes back.
const rows = () => [...document.querySelectorAll('tbody tr, a.th')];
let at = -1;

function select(next) {
  const all = rows();
  if (all.length === 0) return;
  at = Math.max(0, Math.min(all.length - 1, next));
  for (const [index, row] of all.entries()) row.classList.toggle('selected', index === at);
  const link = all[at].matches('a') ? all[at] : all[at].querySelector('a');
  if (link) link.focus();
}

// A person may turn single keys off (WCAG 2.1.4). The browser remembers it.
const keysSwitch = document.querySelector('[data-keys]');
let areKeysOff = localStorage.getItem('keys') === 'off';

function showKeys() {
  keysSwitch.hidden = false;
  keysSwitch.textContent = areKeysOff ? 'Turn single keys on' : 'Turn single keys off';
}

if (keysSwitch) {
  showKeys();
  keysSwitch.addEventListener('click', () => {
    areKeysOff = !areKeysOff;
    localStorage.setItem('keys', areKeysOff ? 'off' : 'on');
    showKeys();
  });
}

document.addEventListener('keydown', (event) => {
  const { target, key } = event;
  if (areKeysOff) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target instanceof HTMLElement && target.matches('input, textarea, select')) return;
  if (key === 'j') select(at + 1);
  else if (key === 'k') select(at - 1);
  else if (key === '/') {
    const search = document.querySelector('[role=search] input');
    if (search) search.focus();
    event.preventDefault();
  } else if (key === 'u') history.back();
  else if (key === 'r') {
    const answer = document.querySelector('form:is(.reply, .fields) [name=text]');
    if (answer) answer.focus();
    event.preventDefault();
  } else if (/^[a-z]$/.test(key)) document.querySelector(`[data-key=${key}]`)?.click();
});

// A click copies a value: that of the attribute, or the text of a block.
document.addEventListener('click', async (event) => {
  const block = event.target instanceof Element && event.target.closest('[data-copy]');
  if (!block || !navigator.clipboard) return;
  await navigator.clipboard.writeText(block.dataset.copy || block.textContent);
  if (!block.dataset.copy) return;
  block.classList.add('done');
  block.setAttribute('aria-label', 'Copied');
});

// A saved answer fills the box in place of a new page.
document.addEventListener('click', (event) => {
  const saved = event.target instanceof Element && event.target.closest('a[data-fill]');
  const box = saved && document.querySelector('form.reply [name=text]');
  if (!box) return;
  event.preventDefault();
  box.value += saved.dataset.fill;
  saved.closest('[popover]').hidePopover();
  box.focus();
});

// Files of an answer go as a field of its form, which takes 2 MB.
const attach = document.querySelector('[data-files]');
const mostFileBytes = 1_400_000;

function base64Of(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result.replace(/^[^,]*,/, '')));
    reader.addEventListener('error', reject);
    reader.readAsDataURL(file);
  });
}

async function readFiles() {
  const [chosen, field] = attach.querySelectorAll('input');
  const files = [...chosen.files];
  const isTooMuch = files.reduce((sum, { size }) => sum + size, 0) > mostFileBytes;
  const read = isTooMuch ? [] : await Promise.all(files.map(base64Of));
  const given = read.map((content, index) => ({ filename: files[index].name, content }));
  field.value = given.length > 0 ? JSON.stringify(given) : '';
  const names = files.map(({ name }) => name).join(', ');
  attach.querySelector('span').textContent = isTooMuch ? 'More than 1.4 MB' : names || 'Attach';
}

attach?.querySelector('input').addEventListener('change', () => void readFiles());

// An opened thread is read. List, tools and areas are taken from the answer, a page.
const opened = document.querySelector('form[data-opens]');

async function read() {
  const body = new URLSearchParams(new FormData(opened));
  const answer = await fetch(location.href, { method: 'POST', body });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const part of ['.list', '.tools', '.side']) {
    const next = page.querySelector(part);
    if (next) document.querySelector(part)?.replaceWith(next);
  }
}
if (opened) void read();

// A thread opens at its end: the decision on a proposal, or the newest mail.
if (location.hash === '') {
  const proposal = document.querySelector('.flow > .prop:last-child');
  const newest = [...document.querySelectorAll('.flow > .mail[open]')].at(-1);
  if (proposal) proposal.scrollIntoView({ block: 'end' });
  else newest?.scrollIntoView({ block: 'nearest' });
}

// "Find anything": Ctrl K opens a window, results come while a person types.
const finder = document.getElementById('find');
const typingMs = 120;
let waitingToFind = 0;

function openFinder() {
  finder.showPopover();
  finder.querySelector('input').select();
  void find();
}

async function find() {
  const q = finder.querySelector('input').value;
  const answer = await fetch(`/console/find/hits?${new URLSearchParams({ q })}`);
  if (!answer.ok || q !== finder.querySelector('input').value) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  finder.querySelector('.hits').replaceWith(page.querySelector('.hits'));
}

function moveInFinder(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...finder.querySelectorAll('.hits a')];
  if (event.key === 'Enter' && event.target.matches('input') && links[0]) {
    event.preventDefault();
    links[0].click();
  }
  if (!step) return;
  event.preventDefault();
  const next = links.indexOf(document.activeElement) + step;
  (next < 0 ? finder.querySelector('input') : links[Math.min(next, links.length - 1)])?.focus();
}

if (finder?.showPopover) {
  for (const link of document.querySelectorAll('a.find')) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      openFinder();
    });
  }
  finder.addEventListener('keydown', moveInFinder);
  finder.addEventListener('input', () => {
    clearTimeout(waitingToFind);
    waitingToFind = setTimeout(find, typingMs);
  });
  document.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== 'k') return;
    event.preventDefault();
    openFinder();
  });
}

// A toast goes after a while, unless a person is at it.
const toast = document.querySelector('.toast');
const toastMs = 12_000;
if (toast) {
  setTimeout(() => {
    if (!toast.matches(':hover, :focus-within')) toast.remove();
  }, toastMs);
}

const main = document.querySelector('main[data-live]');
const askEachMs = 10_000;
const oftenMs = 2_000;
const leastPauseMs = 1_000;
const longestPauseMs = 4_000;
let pauseMs = leastPauseMs;
let isLoading = false;
let hasNews = false;

/**
 * Returns whether a person is using the page: then the content is not exchanged under the cursor.
 */
function isBusy() {
  if (CSS.supports('selector(:popover-open)') && main.querySelector(':popover-open')) return true;
  const active = document.activeElement;
  const isTyping = active instanceof HTMLElement && active.matches('input, textarea, select');
  return isTyping || String(getSelection()) !== '';
}

function announce() {
  if (document.querySelector('.news')) return;
  const line = document.createElement('p');
  line.className = 'news';
  line.setAttribute('role', 'status');
  const again = document.createElement('a');
  again.href = location.href;
  again.textContent = 'Load the page again';
  line.append('There is news. ', again);
  main.prepend(line);
}

/** Returns the text of a content without the parts that `exchange` keeps: news and preview. */
function textOf(content) {
  const parts = [...content.children].filter((one) => !one.matches('.news, [data-keep]'));
  // Details that a person opened are not news.
  return parts.map((one) => one.outerHTML.replaceAll(' open=""', '')).join('');
}

/** States and times change in place, and move nothing. */
const quiet = '.pill, time, [data-quiet]';

/** Exchanges states and times in place. Returns whether nothing else has changed. */
function exchangeStates(next) {
  const [now, later] = [main, next].map((one) => [...one.querySelectorAll(quiet)]);
  const bare = (content) => {
    const copy = content.cloneNode(true);
    for (const one of copy.querySelectorAll(quiet)) one.replaceWith('');
    for (const one of copy.querySelectorAll('[type=hidden]')) one.remove();
    return textOf(copy);
  };
  if (now.length !== later.length || bare(main) !== bare(next)) return false;
  for (const [index, one] of now.entries()) one.replaceWith(later[index]);
  return true;
}

/**
 * Exchanges the content around a preview. Open details stay open, and the focus keeps its place.
 */
function exchange(next) {
  const focusable = 'a, button, summary, [tabindex]';
  const focused = [...main.querySelectorAll(focusable)].indexOf(document.activeElement);
  const open = [...main.querySelectorAll('details')].map((one) => one.open);
  const [kept, after] = [main, next].map((one) => one.querySelector(':scope > [data-keep]'));
  if (kept && after) {
    for (const one of [...main.children]) if (one !== kept) one.remove();
    const parts = [...next.children];
    const place = parts.indexOf(after);
    kept.before(...parts.slice(0, place));
    kept.after(...parts.slice(place + 1));
  } else main.replaceChildren(...next.children);
  for (const [index, one] of [...main.querySelectorAll('details')].entries()) {
    one.open = open[index] ?? false;
  }
  main.querySelectorAll(focusable)[focused]?.focus({ preventScroll: true });
}

async function follow() {
  if (document.visibilityState === 'hidden' || isLoading || document.querySelector('.news')) {
    hasNews = true;
    return;
  }
  hasNews = false;
  isLoading = true;
  try {
    const answer = await fetch(location.href, { redirect: 'error' });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const next = page.querySelector('main');
    // After a switch of organizations in a second tab, this page stays as it is.
    if (!next || next.dataset.in !== main.dataset.in || textOf(next) === textOf(main)) return;
    if (exchangeStates(next)) return;
    const isWaiting = main.dataset.live === 'often' && isBusy();
    if (main.dataset.live === 'announce' || (isBusy() && !isWaiting)) announce();
    else if (!isWaiting) exchange(next);
  } catch {
    // While the daemon is stopped nothing is loaded. Once it runs, the stream reports changes.
    hasNews = false;
  } finally {
    // Under constant changes the page is loaded less and less often.
    setTimeout(goOn, pauseMs);
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }
}

function goOn() {
  isLoading = false;
  if (hasNews && document.visibilityState !== 'hidden') void follow();
  else pauseMs = leastPauseMs;
}

if (main?.dataset.live === 'often') {
  setInterval(() => void follow(), oftenMs);
} else if (main) {
  const { drawn, about, in: organization } = main.dataset;
  // A stream that was lost asks again from the same time, so that no change is missed.
  const query = new URLSearchParams({ since: drawn, in: organization, ...(about && { about }) });
  const stream = new EventSource(`/console/live?${query}`);
  let asking = 0;
  stream.addEventListener('change', () => void follow());
  stream.addEventListener('open', () => {
    clearInterval(asking);
    asking = 0;
  });
  stream.addEventListener('error', () => {
    asking ||= setInterval(() => void follow(), askEachMs);
  });
  document.addEventListener('visibilitychange', () => {
    if (hasNews) void follow();
  });
}

/** Posts a form again while its page is in view, such as the check of a domain. */
async function postAgain() {
  const form = document.querySelector('form[data-every]');
  if (!form || document.visibilityState === 'hidden') return;
  const body = new URLSearchParams(new FormData(form));
  await fetch(location.pathname, { method: 'POST', body, redirect: 'manual' }).catch(() => null);
  void follow();
}

const everySeconds = Number(document.querySelector('form[data-every]')?.dataset.every);
if (everySeconds > 0) setInterval(() => void postAgain(), everySeconds * 1000);

/** Returns the text of a file: UTF-16 with its mark, UTF-8, or else Windows-1252. */
async function textIn(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mark = bytes[0] * 256 + bytes[1];
  if (mark === 0xfffe) return new TextDecoder('utf-16le').decode(bytes);
  if (mark === 0xfeff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

const mostFormBytes = 2_000_000;

/** Fills a field with the text of a chosen file, and sends the form by the preview button. */
async function fill(input, file) {
  const text = input.form.elements.namedItem(input.dataset.into);
  const read = await textIn(file);
  const isTooLarge = new URLSearchParams({ read }).toString().length > mostFormBytes;
  input.setCustomValidity(
    isTooLarge ? 'The file is too large for this page: use the command.' : '',
  );
  if (!input.reportValidity()) return;
  text.value = read;
  input.form.requestSubmit();
}

document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLElement)) return;
  if (target.dataset.into && target.files?.[0]) void fill(target, target.files[0]);
  else if (target.dataset.sends !== undefined) target.form.requestSubmit();
});

// The editor of a campaign counts its people while they are chosen.
const counting = document.querySelector('form[data-counts]');
const choosingMs = 300;
let waitingToCount = 0;

async function count() {
  const body = new URLSearchParams(new FormData(counting));
  const asked = body.toString();
  body.set('_action', 'count');
  body.set('only', '1');
  const answer = await fetch(location.pathname, { method: 'POST', body }).catch(() => null);
  const page = new DOMParser().parseFromString((await answer?.text()) ?? '', 'text/html');
  // Drops the answer if the choices have changed since: a later request counts them.
  if (asked !== new URLSearchParams(new FormData(counting)).toString()) return;
  const sum = counting.querySelector('#to .sum');
  sum.replaceChildren(...(page.querySelector('[data-count]')?.childNodes ?? []));
}

counting?.addEventListener('input', ({ target }) => {
  if (!target.closest('#to, [name=unsubscribeGroupId]')) return;
  clearTimeout(waitingToCount);
  waitingToCount = setTimeout(() => void count(), choosingMs);
});
