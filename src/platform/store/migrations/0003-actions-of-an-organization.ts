// Indexes for the list of actions over all mailboxes of an organization: one for each filter, as
// for the actions of one mailbox.
import type { Migration } from '../migration.ts';

export const actionsOfAnOrganization: Migration = {
  name: '0003-actions-of-an-organization',
  sql: () => `
create index mailbox_actions_of_all on mailbox_actions (organization_id, id);
create index mailbox_actions_of_all_by_state on mailbox_actions (organization_id, state, id);
create index mailbox_actions_of_all_by_type on mailbox_actions (organization_id, type, id);
create index mailbox_actions_of_all_by_actor on mailbox_actions (organization_id, actor_id, id);
`,
};
