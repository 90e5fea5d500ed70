ALTER TABLE patients ADD COLUMN patient INTEGER;
ALTER TABLE patients ADD COLUMN wave INTEGER;
UPDATE patients SET patient = 1000 + rowid;
UPDATE patients SET wave = CASE WHEN age + rowid % 20 > 64 THEN 2 ELSE 1 END;
UPDATE patients SET tsize = NULL WHERE rowid % 41 = 5;
UPDATE patients SET pnodes = 0 WHERE rowid % 9 = 4;
UPDATE patients SET tgrade = CASE tgrade WHEN 'I' THEN '1' WHEN 'II' THEN '2' ELSE '3' END WHERE rowid % 6 = 1;
