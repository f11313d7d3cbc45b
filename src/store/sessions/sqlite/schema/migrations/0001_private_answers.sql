DELETE FROM `cached_answers`;
