// Signing in by a passkey: the options for the browser, and the browser's answer.
import { signInOptions, verifySignIn } from '../../../src/access/passkeys/passkeys.ts';
import { PasskeyRefusal } from '../../../src/access/passkeys/refusals.ts';
import { countFailure } from '../../../src/access/sessions/failures.ts';
import { type Answer, jsonAnswer } from '../answers.ts';
import { type Door, readOwnForm } from '../site.ts';
import { signInPerson } from './begin.ts';
import { signInPage, tooOld } from './sign-in.ts';

/** Most bytes of a posted answer: more than the largest answer of an authenticator. */
const mostBytes = 32_768;

/** Answers with the options for `navigator.credentials.get`. */
export const askForPasskey: Door = async (site, request) => {
  const form = await readOwnForm(site, request, mostBytes);
  const browser = site.cookies.read(request, 'svc_console_form');
  if (!form || browser === null) return jsonAnswer(403, tooOld);
  const options = await site.workload.begin(() =>
    signInOptions(site.app, { purpose: 'sign-in', browser, personId: null }),
  );
  if (options instanceof PasskeyRefusal) return jsonAnswer(409, { problem: options.message });
  return jsonAnswer(200, options);
};

export const signInByPasskey: Door = async (site, request): Promise<Answer> => {
  const form = await readOwnForm(site, request, mostBytes);
  const browser = site.cookies.read(request, 'svc_console_form');
  if (!form || browser === null) return signInPage(site, request, tooOld);
  return site.workload.begin(async () => {
    const asking = { purpose: 'sign-in', browser, personId: null } as const;
    const passkey = await verifySignIn(site.app, asking, form['credential'] ?? '');
    if (passkey instanceof PasskeyRefusal) {
      await countFailure(site.app, 'passkey', passkey.personId);
      return signInPage(site, request, { status: 401, problem: passkey.message });
    }
    const { person_id: personId } = passkey;
    return signInPerson(site, request, { personId, proof: 'passkey', next: form['next'] });
  });
};
