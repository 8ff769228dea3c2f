// Forms with `data-passkey` (the path of the question) ask the browser for a passkey, and send its
// answer in their field `credential`. They are hidden in browsers without passkeys, and at another
// origin than theirs, where a link leads there. A field for `webauthn` offers passkeys too, before
// anything is typed.
const { PublicKeyCredential } = globalThis;
const canAsk = typeof PublicKeyCredential?.parseRequestOptionsFromJSON === 'function';
const isHere = ({ dataset }) => (dataset.origin ?? location.origin) === location.origin;
const all = canAsk ? [...document.querySelectorAll('form[data-passkey]')] : [];
const forms = all.filter(isHere);
const elsewhere = document.querySelector('[data-elsewhere]');
const typed = document.querySelector('input[autocomplete~=webauthn]');
/** Asks for a new challenge before the old ends, after five minutes. */
const renewMs = 4 * 60_000;
let asking = new AbortController();

/** Shows a sentence below a form. */
function say(form, text) {
  const line = form.querySelector('[role=status]') ?? document.createElement('p');
  line.setAttribute('role', 'status');
  line.className = 'problem';
  line.textContent = text;
  form.append(line);
}

/** Asks for a passkey, and sends the form. Without a question, the form is sent as it is. */
async function answer(form, mediation) {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const body = new URLSearchParams(new FormData(form));
  const answered = await fetch(form.dataset.passkey, { method: 'POST', body, signal });
  if (answered.ok) {
    const options = await answered.json();
    const credential = options.user
      ? await navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
          signal,
        })
      : await navigator.credentials.get({
          publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
          signal,
          ...(mediation && { mediation }),
        });
    form.elements.credential.value = JSON.stringify(credential);
  } else if (mediation) return;
  form.submit();
}

/** Offers passkeys in the list of a typed field. Asks anew before a question ends. */
async function offer() {
  const canOffer = await PublicKeyCredential.isConditionalMediationAvailable?.();
  if (!canOffer) return;
  const again = setTimeout(() => void offer(), renewMs);
  // The browser ends this question once a person presses a button, or leaves it alone.
  await answer(forms[0], 'conditional').catch(() => clearTimeout(again));
}

for (const form of forms) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    answer(form).catch(({ name }) => {
      const isThere = name === 'InvalidStateError';
      say(
        form,
        isThere ? 'This device has a passkey of yours.' : 'No passkey answered. Try again.',
      );
      if (typed) void offer();
    });
  });
}
if (elsewhere) elsewhere.hidden = forms.length === all.length;
if (typed && forms.length > 0) void offer();
