// The targets of links that need no key: opens and clicks below `/t/`, and pages for people.

import { confirmingPage } from '../../src/consent/opt-in/serve.ts';
import { leavingPage } from '../../src/consent/unsubscribe-page/serve.ts';
import type { App } from '../../src/core/app.ts';
import type { LinkAnswer, LinkPage, LinkRequest } from '../../src/core/link-pages/link-page.ts';
import { provingPage } from '../../src/outbound/sending/sender-proof/serve.ts';
import { serveTracked } from '../../src/outbound/tracking/serve.ts';

/** Pages that tracking hosts serve as well as the main HTTP listener. */
const pagesOnHosts: readonly LinkPage[] = [leavingPage, confirmingPage];

/** Every page that opens by a token in a link. */
export const linkPages: readonly LinkPage[] = [...pagesOnHosts, provingPage];

/** Answers paths below `/t/`, `/u/` and `/c/` of a tracking host. */
export async function serveLinks(app: App, request: LinkRequest): Promise<LinkAnswer | null> {
  const page = pagesOnHosts.find(({ path }) => request.path.startsWith(path));
  return page ? page.serve(app, request) : serveTracked(app, request);
}
