import { tagsInput } from '../../src/people/contacts/schema.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Remove tags from a contact',
  examples: [
    [
      'Remove two tags',
      'svc contacts untag contact_06dq2k0qz8h3v5m1r9t4w7xy --tag customer --tag vip',
    ],
  ],
  args,
  body: tagsInput,
  route: async () => (await import('../../src/people/contacts/routes.ts')).contactRoutes.untag,
  card,
});
