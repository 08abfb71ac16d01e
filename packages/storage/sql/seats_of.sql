-- Positions, from 0, of the listed models in a panel.
create or replace function seats_of(p_panel text[], p_models jsonb) returns smallint[] language sql immutable as $$
  select coalesce(array_agg((array_position(p_panel, model) - 1)::smallint order by place), '{}')
    from jsonb_array_elements_text(p_models) with ordinality as l (model, place)
$$;
