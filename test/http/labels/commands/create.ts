import { createCommand } from '../../../../commands/base/verbs.ts';
import { labelRoutes } from '../routes.ts';
import { card } from './show.ts';

export default createCommand({
  route: labelRoutes.create,
  examples: [['Create a label', 'svc labels create --name VIP --color gold']],
  card,
});
