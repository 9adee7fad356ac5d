import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.NIOFSDirectory;

/** Lucene indexes made-up text and searches it, in mapped files and by reads; FOLDER DOCUMENTS. */
public class LuceneRounds extends Rounds {
    final Path folder;
    final int documents;
    int number;

    LuceneRounds(String folder, int documents) {
        this.folder = Paths.get(folder);
        this.documents = documents;
    }

    @Override
    void start() throws Exception {
        Files.createDirectories(folder);
    }

    static String word(Random random) {
        return "word" + (int) Math.abs(random.nextGaussian() * 2000);
    }

    void index(Directory directory) throws Exception {
        Random random = new Random(5);
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer()).setMergeScheduler(new SerialMergeScheduler());
        try (IndexWriter writer = new IndexWriter(directory, config.setMaxBufferedDocs(500).setRAMBufferSizeMB(IndexWriterConfig.DISABLE_AUTO_FLUSH))) {
            for (int i = 0; i < documents; i++) {
                StringBuilder text = new StringBuilder();
                for (int w = 0; w < 100; w++) text.append(word(random)).append(' ');
                Document document = new Document();
                document.add(new TextField("text", text.toString(), Field.Store.YES));
                writer.addDocument(document);
            }
        }
    }

    static long hits(IndexSearcher searcher, Query query) throws Exception {
        return searcher.count(query) + searcher.search(query, 10).scoreDocs.length;
    }

    static long search(Directory directory) throws Exception {
        Random random = new Random(7);
        long found = 0;
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            for (int i = 0; i < 1000; i++) {
                found += hits(searcher, new TermQuery(new Term("text", word(random))));
                found += hits(searcher, new PhraseQuery("text", word(random), word(random)));
            }
        }
        return found;
    }

    @Override
    void round() throws Exception {
        Path path = folder.resolve("index" + number++);
        try (Directory mapped = FSDirectory.open(path); Directory read = new NIOFSDirectory(path)) {
            index(mapped);
            System.out.println("found " + search(mapped) + " " + search(read));
        }
    }

    @Override
    void stop() {}

    public static void main(String[] arguments) throws Exception {
        new LuceneRounds(arguments[0], Integer.parseInt(arguments[1])).run();
    }
}
