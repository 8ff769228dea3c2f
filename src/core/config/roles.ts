// Names of the roles. They stand below `access`, because the configuration gives roles to people
// whom a provider signs in.

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
