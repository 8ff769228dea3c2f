// The role that a claim of the provider gives in `join.organization`.
import type { App } from '../../core/app.ts';
import { type Role, roles } from '../../core/config/roles.ts';

/** Bound on the values of a claim; Entra names at most 200 groups. */
const mostValues = 1_000;
const twelveHoursMs = 12 * 3600_000;

/**
 * Meaning of a claim: a role; `none` for a claim that maps to no role; `unreadable` for a claim
 * that is absent, too long or of a wrong type. Entra omits the claim for too many groups.
 */
export type ClaimedRole = { role: Role } | 'none' | 'unreadable';

/** Returns the role of a claim. Of several roles it is the first in the order of `roles`. */
export function claimedRole(value: unknown, map: Readonly<Record<string, Role>>): ClaimedRole {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.filter((one) => typeof one === 'string');
  if (texts.length !== values.length || values.length > mostValues) return 'unreadable';
  const given = new Set(texts.map((text) => (Object.hasOwn(map, text) ? map[text] : undefined)));
  const role = roles.find((one) => given.has(one));
  return role ? { role } : 'none';
}

/**
 * Returns the longest life of a session in an organization, in ms: 12 hours where a claim gives
 * roles, so that changes at the provider take effect within a day. Null for the usual life.
 */
export function longestSessionMs(
  { config }: Pick<App, 'config'>,
  organizationId: string,
): number | null {
  const { join, roles: claimed } = config.console.signIn.oidc;
  return claimed.claim !== null && join.organization === organizationId ? twelveHoursMs : null;
}
