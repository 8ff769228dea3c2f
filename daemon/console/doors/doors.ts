// The doors of the console: paths that need no session.
import { matchPath } from '../page.ts';
import type { Door } from '../site.ts';
import { answerInvitation, invitationPage } from './invitation.ts';
import { askByMail, linkPage, openLink } from './mailed-link.ts';
import { open, openPage } from './open.ts';
import { askForPasskey, signInByPasskey } from './passkey.ts';
import { fromProvider, toProvider } from './provider.ts';
import { signIn, signInByKey } from './sign-in.ts';

/** Doors by method and path below `/console`. */
export const doors: readonly (readonly [method: 'GET' | 'POST', path: string, answer: Door])[] = [
  ['GET', '/sign-in', signIn],
  ['POST', '/sign-in', signInByKey],
  ['POST', '/sign-in/mail', askByMail],
  ['POST', '/sign-in/passkey', signInByPasskey],
  ['POST', '/sign-in/passkey/options', askForPasskey],
  ['GET', '/sign-in/provider', toProvider],
  ['GET', '/oidc/callback', fromProvider],
  ['GET', '/invitation/:token', invitationPage],
  ['POST', '/invitation/:token', answerInvitation],
  ['GET', '/link/:token', linkPage],
  ['POST', '/link/:token', openLink],
  ['GET', '/open/:token', openPage],
  ['POST', '/open/:token', open],
];

/**
 * Returns the door of a path, and the values in the path; null without a door. HEAD is answered as
 * GET.
 */
export function doorOf(
  asked: string,
  path: string,
): { answer: Door; params: Record<string, string> } | null {
  const wanted = asked === 'HEAD' ? 'GET' : asked;
  for (const [method, pattern, answer] of doors) {
    const params = method === wanted && matchPath({ path: pattern }, path);
    if (params) return { answer, params };
  }
  return null;
}
