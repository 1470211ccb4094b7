-- Readers see documents and slots; only the service writes them. Granted rights already say so; row-level security says
-- it again, so that a right granted by mistake changes nothing, and binds the owner too. There are no functions that
-- bypass it.
GRANT USAGE ON SCHEMA document_service TO document_reader;

GRANT SELECT ON documents, slots TO document_reader;

ALTER TABLE documents ENABLE ROW LEVEL SECURITY;

ALTER TABLE documents FORCE ROW LEVEL SECURITY;

CREATE POLICY documents_service ON documents TO document_service USING (true) WITH CHECK (true);

CREATE POLICY documents_reader ON documents FOR SELECT TO document_reader USING (true);

ALTER TABLE slots ENABLE ROW LEVEL SECURITY;

ALTER TABLE slots FORCE ROW LEVEL SECURITY;

CREATE POLICY slots_service ON slots TO document_service USING (true) WITH CHECK (true);

CREATE POLICY slots_reader ON slots FOR SELECT TO document_reader USING (true);
