import { createContactGroupInput } from '../../src/people/contacts/groups/schema.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Create a group of contacts',
  examples: [['Create an empty group', 'svc groups create --name Testers']],
  body: createContactGroupInput,
  route: async () =>
    (await import('../../src/people/contacts/groups/routes.ts')).contactGroupRoutes.create,
  card,
});
