// Tables of the store itself.
export const store = () => `
-- Migrations that have run, with their times.
create table migrations (name text primary key, applied_at bigint not null);

-- A counter that shows whether writes work.
create table probe (counter bigint not null);
insert into probe (counter) values (0);
`;
