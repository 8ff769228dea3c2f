import { deleteCommand } from '../../../../commands/base/verbs.ts';
import { labelRoutes } from '../routes.ts';
import { args } from './show.ts';

export default deleteCommand({
  shows: labelRoutes.get,
  route: labelRoutes.delete,
  examples: [['Delete a label', 'svc labels delete lbl_06dq2k0qz8h3v5m1r9t4w7xy --yes']],
  args,
  question: ({ name }) => `Delete the label ${name} for good?`,
});
