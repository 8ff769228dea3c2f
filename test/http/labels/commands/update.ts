import { updateCommand } from '../../../../commands/base/verbs.ts';
import { labelRoutes } from '../routes.ts';
import { args, card } from './show.ts';

export default updateCommand({
  route: labelRoutes.update,
  examples: [['Rename a label', 'svc labels update lbl_06dq2k0qz8h3v5m1r9t4w7xy --name Friends']],
  args,
  card,
});
