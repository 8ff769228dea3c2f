import { Flags } from '@oclif/core';
import { savedReplyRoutes } from '../../src/inbox/saved-replies/routes.ts';
import { given, textFrom } from '../base/input/body.ts';
import { idArg, showCommand } from '../base/verbs.ts';

export const card = ['id', 'name', 'text', 'html', 'createdAt', 'updatedAt'];
export const args = idArg('Id of the saved reply (rpl_…)');

/** Flags for the texts of a saved reply, and the function that reads the texts, also from files. */
export const words = {
  flags: {
    text: Flags.string({ description: 'Plain text, @FILE, or - for standard input' }),
    html: Flags.string({ description: 'HTML, @FILE, or - for standard input' }),
  },
  names: { text: null, html: null },
  async more({ text, html }: Record<string, unknown>) {
    const typed = { text, html } as Record<'text' | 'html', string | undefined>;
    return given({ text: await textFrom(typed.text), html: await textFrom(typed.html) });
  },
};

export default showCommand({
  examples: [
    ['Show the words of an answer', 'svc saved-replies show rpl_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  route: savedReplyRoutes.get,
  card,
});
