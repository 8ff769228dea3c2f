import { tagsInput } from '../../src/people/contacts/schema.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Add tags to a contact',
  examples: [
    ['Add two tags', 'svc contacts tag contact_06dq2k0qz8h3v5m1r9t4w7xy --tag customer --tag vip'],
  ],
  args,
  body: tagsInput,
  route: async () => (await import('../../src/people/contacts/routes.ts')).contactRoutes.tag,
  card,
});
