const schedule = {
  name: 'nightly',
  agent: 'docs',
  cron: '0 3 * * *',
  time_zone: 'Europe/Berlin',
  input: 'What has changed since yesterday?',
  session_id: null,
  user_id: null,
  overlap: 'skip',
  enabled: true,
  paused: false,
  next_at: '2026-01-06T02:00:00.000Z',
  last_run: { run_id: 'run_01kcz6t8d1m0x4zq', at: '2026-01-05T02:00:00.012Z' },
  skipped_at: null,
}

/** Of schedules. */
export const scheduleExamples: Record<string, unknown> = {
  Schedule: schedule,
  ScheduleList: { schedules: [schedule], count: 1 },
  UpdateScheduleRequest: { paused: true },
}
