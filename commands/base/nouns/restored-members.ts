// The active members of a restored or copied store: who left since may still sign in there.
import type { RestoredMember } from '../../../src/access/members/queries.ts';

interface Members {
  members: Omit<RestoredMember, 'at'>[];
  membersAsOf: string | null;
}

/** Returns the active members in the rows of a list, with the time of the list. */
export function membersIn(listed: unknown[]): Members {
  const rows = listed as RestoredMember[];
  const at = rows[0]?.at ?? 0;
  const members = rows.map(({ email, role, organization }) => ({ email, role, organization }));
  return { members, membersAsOf: at === 0 ? null : new Date(at).toISOString() };
}

/** Returns lines for people; empty without members. */
export function inWords({ members, membersAsOf }: Members): string {
  if (members.length === 0) return '';
  const lines = members.map(
    ({ email, role, organization }) => `  ${email}, ${role} of ${organization}`,
  );
  const time = membersAsOf === null ? '' : ` as of ${membersAsOf}`;
  return `\nActive members${time}; disable whoever left since:\n${lines.join('\n')}`;
}
