-- Called for each poll that is accepted: the roster version under which it is audited, or null. A question is audited
-- once per tenant and roster version, in the first poll that asks it. Of the newest draws of a roster version, a tenant can
-- have twice its fair share, or a twentieth if that is more. All of this is decided before the poll runs, so that no result
-- influences which polls are audited.
-- p: tenant, id, audit_version (set if the question was drawn), audit_question (its keyed hash, in hexadecimal).
create or replace function draw_audit(p jsonb) returns text language plpgsql as $$
declare
  v_version constant text := p ->> 'audit_version';
  v_question constant bytea := decode(p ->> 'audit_question', 'hex');
  v_tenant constant text := coalesce(p ->> 'tenant', p ->> 'account_id', '');
  v_draws integer;
  v_own integer;
  v_tenants integer;
begin
  -- A gateway of the previous release names no question.
  if v_version is null or v_question is null then
    return v_version;
  end if;
  perform 1 from audit_draws where roster_version = v_version and question = v_question;
  if found then
    return null;
  end if;
  -- A bounded number, because the accepting poll holds locks that others wait for.
  select count(*), count(*) filter (where tenant = v_tenant), count(distinct tenant) into v_draws, v_own, v_tenants
    from (select tenant from audit_draws where roster_version = v_version order by drawn_at desc limit 2000) newest;
  if v_own > 0 and v_own + 1 > (v_draws + 1) * greatest(0.05, 2.0 / v_tenants) then
    return null;
  end if;
  insert into audit_draws (roster_version, question, tenant, poll_id) values (v_version, v_question, v_tenant, p ->> 'id')
  on conflict (roster_version, question) do nothing;
  return case when found then v_version end;
end $$;
