// Names of the roles. They are not in src/access, because the configuration names roles too: for
// people that a sign-in provider knows.

export const roles = [
  'owner',
  'admin',
  'developer',
  'editor',
  'support',
  'analyst',
  'sender',
  'viewer',
] as const;
export type Role = (typeof roles)[number];
