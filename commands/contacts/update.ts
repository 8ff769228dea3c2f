import { updateContactInput } from '../../src/people/contacts/schema.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change a contact',
  examples: [
    ['Archive a contact', 'svc contacts update contact_06dq2k0qz8h3v5m1r9t4w7xy --status archived'],
  ],
  args,
  body: updateContactInput,
  route: async () => (await import('../../src/people/contacts/routes.ts')).contactRoutes.update,
  card,
});
