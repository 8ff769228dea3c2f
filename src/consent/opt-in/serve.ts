// Serves `/c/{token}` on the main HTTP server and on tracking hosts. GET shows a button. POST
// confirms.
import { lookOf } from '../../content/brands/page-look.ts';
import { linkPage } from '../../core/link-pages/link-page.ts';
import { senderNameOf } from '../../outbound/unsubscribe-links/sender-name.ts';
import { unsubscribeGroups } from '../../people/unsubscribe-groups/queries.ts';
import { confirm, linkState } from './confirm.ts';
import { confirmPage, type PageState } from './page.ts';
import { readConfirmToken } from './tokens.ts';

const statuses: Readonly<Record<PageState['is'], number>> = {
  open: 200,
  done: 200,
  used: 200,
  expired: 410,
  void: 410,
};

/** The page below `/c/`. */
export const confirmingPage = linkPage({
  path: '/c/',
  find: readConfirmToken,

  async act(app, asked, form): Promise<PageState | null> {
    if (form.get('action') !== 'confirm') return null;
    const before = await confirm(app, asked);
    return before.is === 'open' ? { is: 'done' } : before;
  },

  async draw(app, asked, change) {
    const { db } = app.store;
    const { organizationId, groupId, address } = asked;
    const state = change ?? (await linkState(app, asked));
    const group = await unsubscribeGroups.find(db, organizationId, groupId);
    const names = {
      group: group?.name ?? 'this mail',
      description: group?.description ?? null,
      sender: await senderNameOf(db, { organizationId, messageId: null }),
      address,
    };
    const look = await lookOf(db, organizationId);
    return { status: statuses[state.is], look, html: confirmPage(state, names, look) };
  },
});
