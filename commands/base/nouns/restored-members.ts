// Lists the active members of a restored or copied store: people who were removed after the copy
// may still sign in there.
import type { RestoredMember } from '../../../src/access/members/queries.ts';

interface Members {
  members: Omit<RestoredMember, 'at'>[];
  membersAsOf: string | null;
}

/**
 * Reads the rows of a member list: the active members, and the time of the list (null if unknown).
 */
export function membersIn(listed: unknown[]): Members {
  const rows = listed as RestoredMember[];
  const at = rows[0]?.at ?? 0;
  const members = rows.map(({ email, role, organization }) => ({ email, role, organization }));
  return { members, membersAsOf: at === 0 ? null : new Date(at).toISOString() };
}

/** Returns a list of the active members for the terminal, to review; empty without members. */
export function inWords({ members, membersAsOf }: Members): string {
  if (members.length === 0) return '';
  const lines = members.map(
    ({ email, role, organization }) => `  ${email}, ${role} of ${organization}`,
  );
  const time = membersAsOf === null ? '' : ` as of ${membersAsOf}`;
  return `\nActive members${time}; disable whoever left since:\n${lines.join('\n')}`;
}
